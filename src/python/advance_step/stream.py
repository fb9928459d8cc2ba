# SPDX-License-Identifier: Apache-2.0
"""Streams and events of the emulated machine."""

from __future__ import annotations

from ctypes import byref, c_float, c_int, c_void_p
from typing import Any

from . import _library
from ._arguments import OneOwner, instance, integer
from ._held_work import NOT_WAITED, WorkHolder, enlist
from ._runtime import Generation, forget_failure, in_context, thread
from .device import Device, as_device

_EVENT_FLAGS = 0x1 | 0x8  # ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE
_COMPLETE = {"stream": 0, "event": 1}
_PARAM_INVALID = 107000


class Stream(WorkHolder):
    """A queue of work on a device. Its work runs in order; streams run at the same time.

    ``with stream:`` makes the stream, and its device, the thread's current ones.

    A finalizer of an object in a reference cycle must not use a stream of another thread: the
    collector may run it within a call on this stream, for which that thread's finalizer may wait.

    Args:
        device: the device, its index, or None for the thread's current device.
        priority: 0 (greatest) to 7; it does not change results.
    """

    __slots__ = ("device", "handle", "_argument", "_generation")

    def __init__(self, device: Device | int | None = None, priority: int = 0) -> None:
        self._argument = c_void_p()  # for calls without a prototype; the library fills it
        self.handle = 0
        thread.refresh()
        self.device = as_device("Stream", device)
        priority = integer("Stream", "priority", priority, 0, 7, _PARAM_INVALID)
        super().__init__()
        self._generation = Generation.current
        thread.activate(self.device.index)
        _library.check(_library.create_stream(byref(self._argument), priority, 0),
                       "aclrtCreateStreamWithConfig")
        self.handle = self._argument.value or 0
        enlist(self.device.index, self)

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
        if code in NOT_WAITED:
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
        instance("Stream.record_event", "event", event, Event).record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Makes later work of the stream wait for the event's latest record."""
        instance("Stream.wait_event", "event", event, Event)
        thread.refresh()
        thread.activate(self.device.index)
        with self._lock:
            self.dirty = True
            _library.check(_library.wait_event(self.handle, event.handle), "aclrtStreamWaitEvent")

    def wait_stream(self, other: Stream) -> None:
        """Makes later work of this stream wait for all work that is now queued in the other one."""
        self.wait_event(instance("Stream.wait_stream", "other", other, Stream).record_event())

    def __del__(self) -> None:  # also after an __init__ that was interrupted
        handle = getattr(self, "_argument", None)
        if handle and self._generation == Generation.current:
            in_context(self.device.index, _library.destroy_stream, handle)


class Event(OneOwner):
    """A point in a stream, with its time. An event that was never recorded counts as complete.

    Args:
        device: the device, its index, or None for the thread's current device.
    """

    __slots__ = ("device", "handle", "_cell", "_generation", "__weakref__")

    def __init__(self, device: Device | int | None = None) -> None:
        self._cell = c_void_p()  # the library fills it
        self.handle = 0
        thread.refresh()
        self.device = as_device("Event", device)
        self._generation = Generation.current
        thread.activate(self.device.index)
        _library.check(_library.create_event(byref(self._cell), _EVENT_FLAGS),
                       "aclrtCreateEventExWithFlag")
        self.handle = self._cell.value or 0

    def record(self, stream: Stream | None = None) -> None:
        """Records the event after the work that the stream (None: the current one) has queued."""
        target = _chosen("Event.record", stream)
        thread.activate(target.device.index)
        _library.check(_library.record_event(self.handle, target.handle), "aclrtRecordEvent")

    def wait(self, stream: Stream | None = None) -> None:
        """Makes later work of the stream (None: the current one) wait for the event."""
        _chosen("Event.wait", stream).wait_event(self)

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
        instance("Event.elapsed_time", "end", end, Event)
        result = c_float()
        _library.check(_library.elapsed_time(byref(result), self.handle, end.handle),
                       "aclrtEventElapsedTime")
        return float(result.value)

    def __del__(self) -> None:  # also after an __init__ that was interrupted
        handle = getattr(self, "_cell", None)
        if handle and self._generation == Generation.current and _library.destroy_event(handle):
            forget_failure()  # other code has ended the runtime


def current_stream(device: Device | int | None = None) -> Stream:
    """Returns the thread's current stream of a device (None: of the current one).

    Each thread has a stream of its own for each device, for use outside of ``with stream:`` blocks.
    """
    thread.refresh()
    index = as_device("current_stream", device).index
    stream: Stream | None = thread.streams.get(index)
    if stream is None:
        stream = thread.streams[index] = Stream(index)
    return stream


def _chosen(call: str, stream: Stream | None) -> Any:
    return current_stream() if stream is None else instance(call, "stream", stream, Stream)


__all__ = ["Event", "Stream", "current_stream"]
