# SPDX-License-Identifier: Apache-2.0
"""The device "npu" for a torch that does not know the name.

torch.device is a closed C type, and torch 1.13 has a fixed list of device types. So `NpuDevice` has
the interface of torch.device, and `device` replaces torch.device: it makes an NpuDevice for "npu"
and "npu:N" and a real torch.device for other names, and both are instances of it.
"""

from __future__ import annotations

from typing import Any

import advance_step
import torch

REAL_DEVICE: Any = torch.device


class NpuDevice:
    """The result of torch.device("npu:0"). `index` is None for "npu", the current device."""

    __slots__ = ("index",)
    type = "npu"

    def __init__(self, index: int | None = None) -> None:
        if index is not None and not 0 <= index < advance_step.device_count():
            raise RuntimeError(f"npu:{index} does not exist; expected 0 to "
                               f"{advance_step.device_count() - 1}")
        self.index = index

    def __repr__(self) -> str:
        return "device(type='npu'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return "npu" if self.index is None else f"npu:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NpuDevice) and other.index == self.index

    def __hash__(self) -> int:
        return hash(("npu", self.index))

    def __reduce__(self) -> Any:
        return NpuDevice, (self.index,)

    def __enter__(self) -> None:
        raise NotImplementedError("torch_npu emulation: `with torch.device('npu')` is not "
                                  "emulated; expected device= at each call")

    def __exit__(self, *_: object) -> None: ...


def npu_device(spec: Any, index: int | None = None) -> NpuDevice | None:
    """Returns the NpuDevice that a device argument names, or None if it names another device."""
    if isinstance(spec, NpuDevice):
        return spec
    if not isinstance(spec, str) or not (spec == "npu" or spec.startswith("npu:")):
        return None
    if spec == "npu":
        return NpuDevice(index)
    number = spec[len("npu:"):]
    if index is not None or not number.isdecimal():
        raise RuntimeError(f"Invalid device string: '{spec}'")
    return NpuDevice(int(number))


def index_of(device: NpuDevice) -> int:
    """Returns the number of the device; "npu" denotes the thread's current one."""
    return advance_step.current_device().index if device.index is None else device.index


class _DeviceType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (REAL_DEVICE, NpuDevice))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, (REAL_DEVICE, NpuDevice))


class device(metaclass=_DeviceType):  # noqa: N801 - it is torch.device
    """The replacement of torch.device, which also accepts "npu"."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        spec = args[0] if args else kwargs.get("type", kwargs.get("device"))
        index = args[1] if len(args) > 1 else kwargs.get("index")
        return npu_device(spec, index) or REAL_DEVICE(*args, **kwargs)
