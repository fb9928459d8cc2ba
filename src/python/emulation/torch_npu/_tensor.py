# SPDX-License-Identifier: Apache-2.0
"""Tensors on device "npu": a subclass of torch.Tensor on memory of the CPU.

An operator of the library is queued in its stream and runs later. Every other torch function runs
at once on the CPU. It first synchronises the current stream if work is queued there. So it runs
after the work of its stream, as on a device, and raises the failures of that work.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import torch

from ._device import index_of, npu_device
from ._streams import stream_for

without_override = getattr(torch._C, "DisableTorchFunctionSubclass", torch._C.DisableTorchFunction)

special: dict[Any, Callable[..., Any]] = {}  # torch functions that have an emulation of their own


class NpuTensor(torch.Tensor):
    """A tensor whose `device` is npu:N. Factory functions with device="npu", `.npu()`, `.to("npu")`
    and torch functions on other NpuTensors make such tensors."""

    npu_index: int

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        emulation = special.get(func)
        if emulation is not None:
            return emulation(*args, **kwargs)
        index = _common_index(func, args, kwargs)
        if getattr(func, "__name__", "") != "__get__":  # reading an attribute needs no wait
            settle(index)
        return run(index, func, args, kwargs)


def wrap(tensor: torch.Tensor, index: int) -> NpuTensor:
    """Returns the same memory as a tensor of npu:index."""
    with without_override():
        wrapped: NpuTensor = tensor.as_subclass(NpuTensor)
    wrapped.npu_index = index
    return wrapped


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the same memory as a tensor of the CPU."""
    with without_override():
        return tensor.as_subclass(torch.Tensor)


def settle(index: int) -> None:
    """Waits for the current stream of npu:index if work is queued there."""
    stream = stream_for(index)
    if stream.dirty:
        stream.synchronize()


def run(index: int, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Runs a torch function on memory of npu:index. Tensors in the result are on the device that
    the argument `device` names, or else on npu:index."""
    target: int | None = index
    given = kwargs.pop("device", None)
    if given is not None:
        device = npu_device(given)
        if device is None:
            kwargs["device"] = given
        target = None if device is None else index_of(device)
    with without_override():
        result = func(*args, **kwargs)
    if target is None:  # a copy on the CPU: the result may share memory with an argument
        return plain(result).clone() if isinstance(result, torch.Tensor) else result
    return _wrapped(result, target)


def _wrapped(result: Any, index: int) -> Any:
    if isinstance(result, NpuTensor):  # an argument that was written in place
        return result
    if isinstance(result, torch.Tensor):
        return wrap(result, index)
    if isinstance(result, (list, tuple)) and not isinstance(result, torch.Size):
        items = [_wrapped(item, index) for item in result]
        make = getattr(result, "_make", type(result))  # torch.return_types take a sequence
        return make(items)
    return result


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors of an argument, also those in lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def _common_index(func: Any, args: Any, kwargs: Any) -> int:
    """Returns the device of the call's tensors. Numbers (0-dim CPU tensors) may join any device."""
    tensors = list(tensors_in([args, kwargs]))
    indices = {tensor.npu_index for tensor in tensors if isinstance(tensor, NpuTensor)}
    names = sorted(f"npu:{index}" for index in indices)
    # Index tensors on the CPU may select from a tensor of the device and assign to it.
    selects = func in _SELECTIONS and isinstance(args[0], NpuTensor)
    for tensor in tensors:
        if not selects and not isinstance(tensor, NpuTensor) and tensor.dim() > 0:
            names.append(str(tensor.device))
    if len(set(names)) > 1:
        raise RuntimeError(f"{getattr(func, '__name__', func)}: tensors are on "
                           f"{' and '.join(names)}; expected all of them on one device")
    return indices.pop() if indices else 0


_SELECTIONS = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
