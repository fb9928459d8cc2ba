# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events of the emulated machine."""

from __future__ import annotations

import ctypes
import threading
import weakref
from ctypes import byref, c_float, c_int, c_void_p
from typing import Any

from . import _library
from ._runtime import Generation, context_of, forget_failure, in_context, thread

_EVENT_FLAGS = 0x1 | 0x8  # ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE
_COMPLETE = {"stream": 0, "event": 1}
# A synchronisation that returns one of these codes has not waited: the work may still be queued.
_NOT_WAITED = frozenset((107002, 107003, 107017, 107027, 207000))


class Device:
    """A device of the emulated machine.

    ``with Device(1):`` makes it the thread's current device until the end of the block. Outside
    such blocks device 0 is current. The setting ADVANCE_STEP_DEVICES is the number of devices.
    """

    __slots__ = ("index",)

    def __init__(self, index: int = 0) -> None:
        self.index = index

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
        held = []
        for reference in _streams.get(self.index, ()):
            stream = reference()
            if stream is not None and stream.dirty:
                held.append((stream, stream._take_held()))
        code = _library.synchronize_device()
        if code in _NOT_WAITED:
            for stream, arrays in held:
                stream._hold_again(arrays)
        _library.check(code, "aclrtSynchronizeDevice")

    def allocate(self, size: int) -> memoryview:
        """Allocates device memory and returns it as writable bytes, for instance for
        numpy.frombuffer.

        The contents are undefined. The memory is freed when there is no reference to it any more
        and queued work that uses it has run. It must not be used after finalize().
        """
        thread.refresh()
        thread.activate(self.index)
        address = c_void_p()
        _library.check(_library.malloc(byref(address), size, 0), "aclrtMalloc")
        assert address.value is not None
        buffer = (ctypes.c_ubyte * size).from_address(address.value)
        weakref.finalize(buffer, _free, address.value, Generation.current).atexit = False
        return memoryview(buffer).cast("B")


def _free(address: int, generation: int) -> None:
    if generation == Generation.current and _library.free(address):
        forget_failure()  # other code has ended the runtime


class Stream:
    """A queue of work on a device. Its work runs in order; streams run at the same time.

    ``with stream:`` makes the stream, and its device, the thread's current ones.

    Args:
        device: the device, its index, or None for the thread's current device.
        priority: 0 (greatest) to 7; it does not change results.
    """

    # _lock: held while a call queues work, and also while it then waits, so that the call raises
    # only a failure of its own work. _held: plans and arrays of queued work, by plan; they must
    # exist until a synchronisation has waited for the work. dirty: work has been queued since the
    # start of the last synchronisation.
    __slots__ = ("device", "handle", "dirty", "_argument", "_lock", "_held", "_generation",
                 "__weakref__")

    def __init__(self, device: Device | int | None = None, priority: int = 0) -> None:
        thread.refresh()
        self.handle = 0
        self.device = _as_device(device)
        self.dirty = False
        self._lock = threading.RLock()
        self._held: dict[int, Any] = {}
        self._generation = Generation.current
        thread.activate(self.device.index)
        handle = c_void_p()
        _library.check(_library.create_stream(byref(handle), priority, 0),
                       "aclrtCreateStreamWithConfig")
        self.handle = handle.value or 0
        self._argument = handle  # for calls without a prototype
        with _streams_lock:
            index = self.device.index
            living = [old for old in _streams.get(index, ()) if old() is not None]
            _streams[index] = (*living, weakref.ref(self))

    def __repr__(self) -> str:
        return f"<Stream {self.handle:#x} of {self.device}>"

    def __enter__(self) -> Stream:
        thread.refresh()
        index = self.device.index
        thread.saved.append((thread.device, index, thread.streams.get(index)))
        thread.device = index
        thread.streams[index] = self
        return self

    def __exit__(self, *_: object) -> None:
        thread.leave()

    @property
    def valid(self) -> bool:
        """Returns whether the runtime is still the one in which the stream was made."""
        return self._generation == Generation.current

    def synchronize(self) -> None:
        """Waits for all work of the stream. The calling thread helps to run it.

        Raises:
            AdvanceStepError: the first failure of the stream that has not been raised yet. Other
                failures up to this call are not raised any more.
        """
        thread.refresh()
        if thread.active != self.device.index:
            thread.activate(self.device.index)
        held = self._take_held()
        code = _library.synchronize_stream(self.handle)
        if code in _NOT_WAITED:
            self._hold_again(held)
        _library.check(code, "aclrtSynchronizeStream")

    def query(self) -> bool:
        """Returns whether all work of the stream has run."""
        thread.refresh()
        thread.activate(self.device.index)
        status = c_int()
        _library.check(_library.query_stream(self.handle, byref(status)), "aclrtStreamQuery")
        return status.value == _COMPLETE["stream"]

    def record_event(self, event: Event | None = None) -> Event:
        """Records the event, or a new one, after the stream's queued work, and returns it."""
        if event is None:
            event = Event(self.device)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Makes later work of the stream wait for the event's latest record."""
        thread.refresh()
        thread.activate(self.device.index)
        with self._lock:
            self.dirty = True
            _library.check(_library.wait_event(self.handle, event.handle), "aclrtStreamWaitEvent")

    def wait_stream(self, other: Stream) -> None:
        """Makes later work of this stream wait for all work that is now queued in the other one."""
        self.wait_event(other.record_event())

    def _take_held(self) -> dict[int, Any]:
        with self._lock:
            held, self._held, self.dirty = self._held, {}, False
            return held

    def _hold_again(self, held: dict[int, Any]) -> None:
        with self._lock:
            self._held = {**held, **self._held}
            self.dirty = True

    def __del__(self) -> None:
        if self.handle and self._generation == Generation.current:
            in_context(self.device.index, _library.destroy_stream, self.handle)


class Event:
    """A point in a stream, with its time. An event that was never recorded counts as complete.

    Args:
        device: the device, its index, or None for the thread's current device.
    """

    __slots__ = ("device", "handle", "_generation", "__weakref__")

    def __init__(self, device: Device | int | None = None) -> None:
        thread.refresh()
        self.handle = 0
        self.device = _as_device(device)
        self._generation = Generation.current
        thread.activate(self.device.index)
        handle = c_void_p()
        _library.check(_library.create_event(byref(handle), _EVENT_FLAGS),
                       "aclrtCreateEventExWithFlag")
        self.handle = handle.value or 0

    def record(self, stream: Stream | None = None) -> None:
        """Records the event after the work that the stream (None: the current one) has queued."""
        target = current_stream() if stream is None else stream
        thread.activate(target.device.index)
        _library.check(_library.record_event(self.handle, target.handle), "aclrtRecordEvent")

    def wait(self, stream: Stream | None = None) -> None:
        """Makes later work of the stream (None: the current one) wait for the event."""
        (current_stream() if stream is None else stream).wait_event(self)

    def synchronize(self) -> None:
        """Waits for the event. Raises the first failure of work queued before it that has not been
        raised yet."""
        thread.refresh()
        thread.activate(self.device.index)
        _library.check(_library.synchronize_event(self.handle), "aclrtSynchronizeEvent")

    def query(self) -> bool:
        """Returns whether all work before the event has run."""
        status = c_int()
        _library.check(_library.query_event(self.handle, byref(status)), "aclrtQueryEventStatus")
        return status.value == _COMPLETE["event"]

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to the end event. Both must be complete."""
        result = c_float()
        _library.check(_library.elapsed_time(byref(result), self.handle, end.handle),
                       "aclrtEventElapsedTime")
        return float(result.value)

    def __del__(self) -> None:
        if self.handle and self._generation == Generation.current and \
                _library.destroy_event(self.handle):
            forget_failure()  # other code has ended the runtime


_streams: dict[int, tuple[weakref.ref[Stream], ...]] = {}  # by device; a change replaces the tuple
_streams_lock = threading.Lock()  # guards changes of _streams


def current_device() -> Device:
    """Returns the thread's current device."""
    thread.refresh()
    return Device(thread.device)


def current_stream(device: Device | int | None = None) -> Stream:
    """Returns the thread's current stream of a device (None: of the current one).

    Each thread has a stream of its own for each device, for use outside of ``with stream:`` blocks.
    """
    thread.refresh()
    index = _as_device(device).index
    stream = thread.streams.get(index)
    if stream is None:
        stream = thread.streams[index] = Stream(index)
    return stream


def _as_device(device: Device | int | None) -> Device:
    if device is None:
        return Device(thread.device)
    return device if isinstance(device, Device) else Device(device)


__all__ = ["Device", "Event", "Stream", "current_device", "current_stream"]
