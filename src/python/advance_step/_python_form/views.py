# SPDX-License-Identifier: Apache-2.0
"""Views on "cpu" of the memory of "npu" tensors, and "npu" tensors for results on "cpu"."""

from __future__ import annotations

import ctypes
from typing import Any


class Views:
    """The views on "cpu" that one call needs; each shares the memory of an "npu" tensor."""

    def __init__(self, torch: Any, grow: bool = False) -> None:
        self.torch = torch
        self.grow = grow  # the operator resizes what it writes in place, so it gets copies
        self.tensors: list[tuple[Any, Any]] = []
        self.storages: dict[int, Any] = {}

    def of(self, npu: Any) -> Any:
        torch = self.torch
        for known, view in self.tensors:
            if known is npu:
                return view
        storage = npu.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        view = torch.empty(0, dtype=npu.dtype)
        if self.grow:
            view = Views(torch).of(npu).clone()
        elif size and npu.numel():  # torch cannot resize the memory of another owner
            if address not in self.storages:
                memory = (ctypes.c_char * size).from_address(address)
                self.storages[address] = torch.frombuffer(memory, dtype=torch.uint8)
            view.set_(self.storages[address].untyped_storage(), npu.storage_offset(), npu.shape,
                      npu.stride())
        else:
            view = torch.empty_strided(npu.shape, npu.stride(), dtype=npu.dtype)
        if npu.is_conj():
            view = torch._conj(view)
        if npu.is_neg():
            view = torch._neg_view(view)
        self.tensors.append((npu, view))
        return view

    def take_resized(self) -> None:
        for npu, view in self.tensors:
            if npu.shape != view.shape:
                npu.resize_(view.shape)
                npu.as_strided_(view.shape, view.stride())  # kernels of matrices choose others
                # torch_npu queues its copy of the old bytes, which would overwrite the new ones.
                self.torch.npu.current_stream(npu.device).synchronize()
            elif not self.grow:
                continue
            Views(self.torch).of(npu).copy_(view)

    def result(self, value: Any, device: Any) -> Any:
        """Returns the "npu" value for a result on "cpu"."""
        torch = self.torch
        if isinstance(value, (list, tuple)):
            return type(value)(self.result(element, device) for element in value)
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        for npu, view in self.tensors:
            if view is value:
                return npu
        if value.layout != torch.strided:
            raise RuntimeError(f"the result is {value.layout}; host operators make strided tensors only")
        if value.is_quantized:
            raise RuntimeError(f"the result is quantized, {value.dtype}; host operators make plain "
                               "tensors only")
        if any(size > 1 and stride == 0 for size, stride in zip(value.shape, value.stride())):
            value = value.contiguous()
        made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)
        if value.numel():
            Views(torch).of(made).copy_(value.resolve_conj().resolve_neg())
        return made
