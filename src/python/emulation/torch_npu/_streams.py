# SPDX-License-Identifier: Apache-2.0
"""Streams and events with the interface of torch.npu, based on those of the package."""

from __future__ import annotations

import threading
from typing import Any

import advance_step

from ._device import index_of, npu_device


class Stream(advance_step.Stream):
    """A stream of a device (None: the current one). `priority` does not change results."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        super().__init__(device_index(device), min(max(priority, 0), 7))

    @property
    def npu_stream(self) -> int:
        """Returns the handle, an aclrtStream."""
        return self.handle

    def record_event(self, event: Any = None) -> Any:
        """Records the event, or a new one, after the stream's queued work, and returns it."""
        return super().record_event(Event() if event is None else event)

    def __enter__(self) -> Any:
        raise TypeError("a stream is made current by `with torch.npu.stream(s)`")

    def __exit__(self, *_: object) -> None: ...


class Event(advance_step.Event):
    """A point in a stream. `elapsed_time` needs enable_timing on both events."""

    __slots__ = ("timed",)

    def __init__(self, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False) -> None:
        if interprocess:
            raise NotImplementedError("torch_npu emulation: events of several processes are not "
                                      "emulated")
        super().__init__()
        self.timed = enable_timing

    def record(self, stream: Any = None) -> None:
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: Any = None) -> None:
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end: Any) -> float:
        if not (self.timed and end.timed):
            raise RuntimeError("elapsed_time: an event was made without enable_timing=True")
        return super().elapsed_time(end)


class _Current(threading.local):
    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}  # by device; no entry: the device's default stream


_current = _Current()
_defaults: dict[int, Stream] = {}  # by device; all threads share them, as on a real device
_defaults_lock = threading.Lock()


def device_index(device: Any = None) -> int:
    """Returns the number of a device, given as number, text, torch.device, or None (the
    current)."""
    if device is None:
        return advance_step.current_device().index
    if isinstance(device, int):
        return device
    named = npu_device(device)
    if named is None:
        raise ValueError(f"device is {device}; expected an npu device")
    return index_of(named)


def stream_for(index: int) -> Stream:
    """Returns the thread's current stream of npu:index."""
    stream = _current.streams.get(index) or _defaults.get(index)
    return stream if stream is not None and stream.valid else default_stream(index)


def default_stream(device: Any = None) -> Stream:
    """Returns the stream that all threads use until they set another one."""
    index = device_index(device)
    with _defaults_lock:
        stream = _defaults.get(index)
        if stream is None or not stream.valid:
            stream = _defaults[index] = Stream(index)
        return stream


def current_stream(device: Any = None) -> Stream:
    """Returns the thread's current stream of a device."""
    return stream_for(device_index(device))


def set_stream(stream: Stream | None) -> None:
    """Makes a stream, and its device, the thread's current ones."""
    if stream is not None:
        stream.device.make_current()
        _current.streams[stream.device.index] = stream


class stream:  # noqa: N801 - a context manager, as torch.cuda.stream
    """`with torch.npu.stream(s):` makes s, and its device, the thread's current ones."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[tuple[int, Stream]] = []

    def __enter__(self) -> Stream | None:
        if self.stream is not None:
            self._before.append((device_index(), stream_for(self.stream.device.index)))
            set_stream(self.stream)
        return self.stream

    def __exit__(self, *_: object) -> None:
        if self._before:
            device, before = self._before.pop()
            set_stream(before)
            advance_step.Device(device).make_current()
