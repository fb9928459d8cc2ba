# SPDX-License-Identifier: Apache-2.0
"""Devices of the emulated machine. `stream` has their streams and events."""

from __future__ import annotations

import ctypes
import sys
import weakref
from ctypes import byref, c_void_p
from typing import Any

from . import _library
from ._arguments import integer, refuse_type
from ._held_work import NOT_WAITED, streams_of
from ._runtime import (INVALID_DEVICE, MOST_INDEX, Generation, context_of, forget_failure,
                       thread)

_INVALID_PARAM = 100000


class Device:
    """A device of the emulated machine.

    ``with Device(1):`` makes it the thread's current device until the end of the block. Outside
    such blocks device 0 is current. The setting ADVANCE_STEP_DEVICES is the number of devices.
    """

    __slots__ = ("index",)

    def __init__(self, index: int = 0) -> None:
        self.index = integer("Device", "index", index, 0, MOST_INDEX, INVALID_DEVICE)

    def __repr__(self) -> str:
        return f"Device({self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.index == self.index

    def __hash__(self) -> int:
        return hash((Device, self.index))

    def __enter__(self) -> Device:
        thread.refresh()
        context_of(self.index)  # raises for an index that does not exist, and for a bad setting
        thread.saved.append((thread.device, None, None))
        thread.device = self.index
        return self

    def __exit__(self, *_: object) -> None:
        thread.leave()

    def make_current(self) -> None:
        """Makes it the thread's current device."""
        thread.refresh()
        context_of(self.index)
        thread.device = self.index

    def synchronize(self) -> None:
        """Waits for all work of the device, in all streams.

        Raises:
            AdvanceStepError: the first failure that has not been raised yet. If several streams
                have failures, it is the failure of the stream that was created first; further calls
                raise the others.
        """
        thread.refresh()
        if thread.active != self.index:
            thread.activate(self.index)
        held = [(stream, stream._take_held()) for stream in streams_of(self.index) if stream.dirty]
        code = _library.synchronize_device()
        if code in NOT_WAITED:
            for stream, arrays in held:
                stream._hold_again(arrays)
        _library.check(code, "aclrtSynchronizeDevice")

    def allocate(self, size: int) -> memoryview:
        """Allocates device memory and returns it as writable bytes, for instance for
        numpy.frombuffer.

        The contents are undefined. The memory is freed when there is no reference to it any more
        and queued work that uses it has run. It must not be used after finalize().
        """
        size = integer("Device.allocate", "size", size, 1, sys.maxsize, _INVALID_PARAM)
        thread.refresh()
        thread.activate(self.index)
        kind = ctypes.c_ubyte * size
        address = c_void_p()
        _library.check(_library.malloc(byref(address), size, 0), "aclrtMalloc")
        assert address.value is not None
        buffer = kind.from_address(address.value)
        weakref.finalize(buffer, _free, address.value, Generation.current).atexit = False
        return memoryview(buffer).cast("B")


def _free(address: int, generation: int) -> None:
    if generation == Generation.current and _library.free(address):
        forget_failure()  # other code has ended the runtime


def current_device() -> Device:
    """Returns the thread's current device."""
    thread.refresh()
    return Device(thread.device)


def as_device(call: str, device: Any) -> Device:
    """Returns the device that an argument names: a Device, an index, or None for the current one."""
    if device is None:
        return Device(thread.device)
    if isinstance(device, Device):
        return device
    if not hasattr(device, "__index__"):
        refuse_type(call, "device", device, "advance_step.Device, an int or None")
    return Device(integer(call, "device", device, 0, MOST_INDEX, INVALID_DEVICE))


__all__ = ["Device", "current_device"]
