# SPDX-License-Identifier: Apache-2.0
"""Torch functions that depend on the device: moving tensors, making tensors, describing tensors.
`install` puts them into torch."""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch

from ._device import REAL_DEVICE, NpuDevice, device, index_of, npu_device
from ._streams import device_index
from ._tensor import NpuTensor, plain, run, settle, special, without_override, wrap

_FACTORIES = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like",
    "empty_strided", "eye", "full", "full_like", "hamming_window", "hann_window", "kaiser_window",
    "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros", "zeros_like")
_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
_OF_DATA = ("as_tensor", "asarray", "tensor")  # torch does not offer their argument to overrides

_to: Any = torch.Tensor.to


def _factory(original: Callable[..., Any]) -> Callable[..., Any]:
    of_data = getattr(original, "__name__", "") in _OF_DATA

    @functools.wraps(original)
    def factory(*args: Any, **kwargs: Any) -> Any:
        if of_data and args:
            args, kwargs = _with_host_data(args, kwargs)
        target = npu_device(kwargs.get("device"))
        if target is None:
            return original(*args, **kwargs)
        made = original(*args, **{**kwargs, "device": "cpu"})
        # as_tensor and asarray may return a tensor on the memory of their argument.
        return wrap(made.clone() if of_data else made, index_of(target))
    return factory


def _with_host_data(args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns the arguments; a first one on npu is replaced by a copy on the CPU."""
    if isinstance(args[0], NpuTensor):
        kwargs = {**kwargs, "device": kwargs.get("device") or args[0].device}
        args = (_cpu(args[0]), *args[1:])
    return args, kwargs


def _split_to(tensor: torch.Tensor, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Returns the device argument of Tensor.to (None: no change), and the others by name."""
    kwargs = dict(kwargs)
    first = args[0] if args else kwargs.pop("other", None)
    target = kwargs.pop("device", None)
    names: tuple[str, ...] = ("dtype", "non_blocking", "copy")
    if isinstance(first, torch.Tensor):
        target, kwargs["dtype"] = first.device, first.dtype
        names = ("non_blocking", "copy")
        args = args[1:]
    elif isinstance(first, (str, int, NpuDevice, REAL_DEVICE)) and not isinstance(first, bool):
        target = first
        args = args[1:]
    kwargs.update(zip(names, args))
    if kwargs.get("dtype") is None:
        kwargs["dtype"] = tensor.dtype
    return target, kwargs


@functools.wraps(_to)
def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    target, options = _split_to(self, args, kwargs)
    named = npu_device(target)
    if not isinstance(self, NpuTensor):
        if named is None:
            stays: torch.Tensor = _to(self, *args, **kwargs)
            return stays
        return wrap(_to(self, **{**options, "copy": True}), index_of(named))
    settle(self.npu_index)
    if target is None or (named is not None and index_of(named) == self.npu_index):
        moved: torch.Tensor = run(self.npu_index, _to, (self,), options)
        return moved
    copied: torch.Tensor = _to(plain(self), **{**options, "copy": True})
    if named is not None:
        return wrap(copied, index_of(named))
    elsewhere: torch.Tensor = _to(copied, target)
    return elsewhere


def npu(self: torch.Tensor, device: Any = None, non_blocking: bool = False) -> torch.Tensor:
    """Returns a copy on an npu device, or the tensor itself if it is there already."""
    return self.to(f"npu:{device_index(device)}")


def _cpu(self: NpuTensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    settle(self.npu_index)
    return plain(self).clone()


def _copy(self: torch.Tensor, src: Any, non_blocking: bool = False) -> torch.Tensor:
    for tensor in (self, src):
        if isinstance(tensor, NpuTensor):
            settle(tensor.npu_index)
    with without_override():
        self.copy_(src)
    return self


def _repr(self: NpuTensor, *, tensor_contents: Any = None) -> str:
    settle(self.npu_index)
    text = repr(plain(self))
    where = f", device='npu:{self.npu_index}'"
    at = text.rfind(", dtype=")
    at = at if at >= 0 else len(text) - 1
    return text[:at] + where + text[at:]


def _format(self: NpuTensor, spec: str) -> str:
    settle(self.npu_index)
    if self.dim() > 0:
        return object.__format__(self, spec)
    return format(plain(self).item(), spec)


def _no_numpy(self: NpuTensor, *args: Any, **kwargs: Any) -> Any:
    raise TypeError(f"a tensor on npu:{self.npu_index} has no numpy array; expected .cpu() first")


def _no_pickle(self: NpuTensor, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("torch_npu emulation: tensors on npu are not pickled or saved; "
                              "expected .cpu() first")


def _type(self: NpuTensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    if dtype is None:
        return plain(self).type().replace("torch.", "torch.npu.")
    return to(self, dtype if isinstance(dtype, torch.dtype) else plain(self).type(dtype).dtype)


def _deepcopy(self: NpuTensor, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        memo[id(self)] = self.detach().clone()
    return memo[id(self)]


def _getter(name: str) -> Any:
    return getattr(torch.Tensor, name).__get__


def _install_special() -> None:
    special[_getter("device")] = lambda self: NpuDevice(self.npu_index)
    special[_getter("is_cpu")] = lambda self: False
    special[torch.Tensor.cpu] = _cpu
    special[torch.Tensor.copy_] = _copy
    special[torch.Tensor.get_device] = lambda self: self.npu_index
    special[torch.Tensor.numpy] = _no_numpy
    special[torch.Tensor.__array__] = _no_numpy
    special[torch.Tensor.__repr__] = _repr
    special[torch.Tensor.__format__] = _format
    special[torch.Tensor.__reduce_ex__] = _no_pickle
    special[torch.Tensor.__deepcopy__] = _deepcopy
    special[torch.Tensor.__iter__] = lambda self: iter(self.unbind(0))
    special[torch.Tensor.type] = _type


def install() -> None:
    """Makes torch accept the device "npu"."""
    _install_special()
    for name in _FACTORIES:
        if hasattr(torch, name):
            setattr(torch, name, _factory(getattr(torch, name)))
    methods: Any = torch.Tensor
    for name in _METHODS:
        setattr(methods, name, _factory(getattr(methods, name)))
    methods.to = to
    methods.npu = npu
    methods.is_npu = property(lambda self: isinstance(self, NpuTensor),
                              doc="Whether the tensor is on an npu device.")
    setattr(torch, "device", device)
