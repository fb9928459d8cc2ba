# SPDX-License-Identifier: Apache-2.0
"""Copies between the devices of one process, for nn.DataParallel and torch.nn.parallel.comm.

torch has them for CUDA, and torch_npu's own need the communication library of real devices.
"""

from __future__ import annotations

from typing import Any


class _Copies:
    """Functions of torch._C that torch.nn.parallel.comm calls. Devices are indices, -1 for "cpu".

    `streams` is not used: a copy is in the order of the current streams of both devices.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def device(self, index: int) -> Any:
        return self.torch.device("cpu" if index == -1 else f"npu:{index}")

    @staticmethod
    def _fill(call: str, out: Any, sources: Any) -> tuple[Any, ...]:
        for index, (each, source) in enumerate(zip(out, sources)):
            if each.shape != source.shape:  # copy_ would broadcast
                raise RuntimeError(f"{call}: out[{index}] has shape {tuple(each.shape)}; expected "
                                   f"{tuple(source.shape)}")
        return tuple(each.copy_(source) for each, source in zip(out, sources))

    def _broadcast(self, tensor: Any, devices: list[int]) -> tuple[Any, ...]:
        return tuple(tensor.to(self.device(index)) for index in devices)

    def _broadcast_out(self, tensor: Any, out: Any) -> tuple[Any, ...]:
        return self._fill("broadcast", out, [tensor] * len(out))

    def _broadcast_coalesced(self, tensors: Any, devices: list[int],
                             buffer_size: int) -> list[list[Any]]:
        return [[tensor.to(self.device(index)) for tensor in tensors] for index in devices]

    def _scatter(self, tensor: Any, devices: list[int], chunk_sizes: Any = None, dim: int = 0,
                 streams: Any = None) -> tuple[Any, ...]:
        chunks = tensor.chunk(len(devices), dim) if chunk_sizes is None else \
            tensor.split(list(chunk_sizes), dim)
        if chunk_sizes is not None and len(chunks) != len(devices):
            raise RuntimeError(f"scatter: there are {len(chunks)} chunk_sizes and {len(devices)} "
                               "devices; expected one for each")
        return tuple(chunk.to(self.device(index), non_blocking=True)
                     for chunk, index in zip(chunks, devices))

    def _scatter_out(self, tensor: Any, out: Any, dim: int = 0,
                     streams: Any = None) -> tuple[Any, ...]:
        chunks = tensor.split([each.shape[dim] for each in out], dim)
        return self._fill("scatter", out, chunks)

    def _gather(self, tensors: Any, dim: int, destination: int) -> Any:
        device = self.device(destination)
        return self.torch.cat([tensor.to(device) for tensor in tensors], dim)

    def _gather_out(self, tensors: Any, out: Any, dim: int) -> Any:
        whole = self.torch.cat([tensor.to(out.device) for tensor in tensors], dim)
        return self._fill("gather", [out], [whole])[0]


def register(torch: Any) -> None:
    """Takes the place of torch_npu's functions."""
    copies = _Copies(torch)
    for name in dir(copies):
        if name.startswith(("_broadcast", "_scatter", "_gather")):
            setattr(torch._C, name, getattr(copies, name))
