# SPDX-License-Identifier: Apache-2.0
"""torch.npu: the emulated devices."""

from __future__ import annotations

from typing import Any

import advance_step
import torch

from ._streams import (Event, Stream, current_stream, default_stream, device_index, set_stream,
                       stream)

IS_EMULATION = True


def is_available() -> bool:
    """Returns True, because emulated devices always exist."""
    return True


def device_count() -> int:
    """Returns the number of emulated devices, which the setting ADVANCE_STEP_DEVICES sets."""
    return advance_step.device_count()


def current_device() -> int:
    """Returns the index of the thread's current device."""
    return advance_step.current_device().index


def set_device(device: Any) -> None:
    """Makes a device the thread's current one."""
    advance_step.Device(device_index(device)).make_current()


def get_device_name(device: Any = None) -> str:
    """Returns the name of the emulated SoC."""
    device_index(device)
    return f"{advance_step.soc_name()} (emulated)"


def synchronize(device: Any = None) -> None:
    """Waits for all work of a device. Raises the first failure that has not been raised yet."""
    if device is None:
        advance_step.current_device().synchronize()
    else:
        advance_step.Device(device_index(device)).synchronize()


def manual_seed(seed: int) -> None:
    """Seeds the CPU's generator, which makes the random numbers of the emulated devices."""
    torch.manual_seed(seed)


manual_seed_all = manual_seed


class device(advance_step.Device):  # noqa: N801 - a context manager, as torch.cuda.device
    """`with torch.npu.device(1):` makes it the thread's current device."""

    def __init__(self, device: Any) -> None:
        super().__init__(device_index(device))


__all__ = [
    "Event", "IS_EMULATION", "Stream", "current_device", "current_stream", "default_stream",
    "device", "device_count", "get_device_name", "is_available", "manual_seed", "manual_seed_all",
    "set_device", "set_stream", "stream", "synchronize",
]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"torch.npu.{name} is not emulated; libadvance_step's emulation of "
                         f"torch_npu has {', '.join(__all__)}")
