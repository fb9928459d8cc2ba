# SPDX-License-Identifier: Apache-2.0
"""swap_blocks_batch: copies between host and device by addresses, in the order of the stream.

Its tensors are on "cpu" and hold numbers, so torch calls it as an operator of "cpu".
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

_NAME = "swap_blocks_batch"
_KINDS = (1, 2, 3)  # host to device, device to host, device to device, by the direction


def _check(torch: Any, name: str, tensor: Any, count: int) -> list[int]:
    if tensor.dtype != torch.int64 or tensor.device.type != "cpu" or list(tensor.shape) != [count]:
        raise ValueError(f"{_NAME}: {name} is {tensor.dtype} on {tensor.device} of shape {list(tensor.shape)}; "
                         f"expected int64 on cpu of shape [{count}]")
    numbers: list[int] = tensor.tolist()
    return numbers


def swap(x: Any, y: Any, z: Any, direction: int) -> None:
    """Copies z[i] bytes from address x[i] to address y[i]."""
    torch: Any = importlib.import_module("torch")
    count = x.shape[0] if x.dim() == 1 else -1
    sources, targets, sizes = (_check(torch, name, tensor, count) for name, tensor in (("x", x), ("y", y), ("z", z)))
    if not 0 <= direction < len(_KINDS):
        raise ValueError(f"{_NAME}: direction is {direction}; expected 0 (to the device), 1 (to the host) or 2 "
                         "(within the device)")
    for numbers, name in ((sources, "x"), (targets, "y")):
        if any(number <= 0 for number, size in zip(numbers, sizes) if size):
            raise ValueError(f"{_NAME}: {name} has the address {min(numbers)}; expected addresses above 0")
    if any(size < 0 for size in sizes):
        raise ValueError(f"{_NAME}: z has the size {min(sizes)}; expected sizes of 0 or more")
    runtime = ctypes.CDLL("libascendcl.so")
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    for source, target, size in zip(sources, targets, sizes):
        if size:
            code = runtime.aclrtMemcpyAsync(ctypes.c_void_p(target), ctypes.c_size_t(size), ctypes.c_void_p(source),
                                            ctypes.c_size_t(size), _KINDS[direction], stream)
            if code:
                message = runtime.aclGetRecentErrMsg
                message.restype = ctypes.c_char_p
                text = (message() or b"").decode("utf-8", "replace")
                raise RuntimeError(f"{_NAME}: aclrtMemcpyAsync returns {code}: {text}")


def register(library: Any, declared: set[str]) -> None:
    """Registers the operator, if it is declared."""
    if _NAME in declared:
        library.impl(_NAME, swap, "CPU", allow_override=True)
