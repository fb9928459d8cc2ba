# SPDX-License-Identifier: Apache-2.0
"""Start and end of the runtime, and the current device and stream of each thread.

The C library keeps a current context for each thread. `ThreadState.active` is the device whose
context this package made current last, which saves a query on the hot path. The lock `_lock` guards
the start, the end and the contexts; all other state here belongs to one thread.
"""

from __future__ import annotations

import os
import threading
from ctypes import byref, c_uint32, c_void_p
from typing import Any, Callable

from . import _library
from ._arguments import integer, refuse_type
from ._errors import AdvanceStepError, make_error

_REPEAT_INITIALIZE = 100002
_INVALID_FILE = 100003
INVALID_DEVICE = 107001
MOST_INDEX = (1 << 31) - 1  # of a device, an int32_t
_THREAD_LEVEL = 0  # aclrtLastErrLevel

_lock = threading.RLock()
_started = False
_contexts: dict[int, int] = {}
_before_end: list[Callable[[], None]] = []


class Generation:
    """Counts the ends of the runtime. A handle of an earlier generation is no longer valid."""

    current = 0


def on_end(function: Callable[[], None]) -> None:
    """Registers a function that is called before the runtime ends."""
    _before_end.append(function)


def _start(path: bytes | None) -> None:
    global _started
    code = _library.acl_init(path)
    if code != _REPEAT_INITIALIZE:  # after an aclInit by other code this one adds a reference
        _library.check(code, "aclInit")
    else:
        _library.recent_message()
    _started = True


def _bytes_of(config: Any) -> bytes:
    try:
        path = os.fsencode(config)
    except UnicodeEncodeError:
        path = b"\0"
    if b"\0" in path:  # C would end the path there
        raise make_error(_INVALID_FILE, f"initialize: config is {os.fspath(config)!r}; expected a path "
                         "that the file system can have, without zero bytes")
    return path


def initialize(config: str | os.PathLike[str] | None = None) -> None:
    """Starts the runtime with a settings file. The first use starts it if there was no such call.

    Args:
        config: JSON file with an object "advance_step" of settings, see docs/runtime.md. The
            environment takes precedence over the file.

    Raises:
        AdvanceStepError: the file or a setting is not valid, or the runtime has been started
            already.
        TypeError: config is no path.
    """
    if config is not None and not isinstance(config, (str, bytes, os.PathLike)):
        refuse_type("initialize", "config", config, "a str, bytes, an os.PathLike or None")
    path = None if config is None else _bytes_of(config)
    with _lock:
        if _started:
            raise make_error(_REPEAT_INITIALIZE, "initialize: the runtime has been started; "
                             "expected finalize() before, or this call before any other")
        _start(path)


def finalize() -> None:
    """Ends the runtime if no other code of the process uses it. The next use reads the settings
    anew.

    The call waits for pending work. Existing streams, events and device memory must not be used
    afterwards. No other thread may be in a call of this package.
    """
    global _started
    with _lock:
        if not _started:
            return
        for function in _before_end:
            function()
        code = _library.finalize_reference(None)
        _started = False
        _contexts.clear()
        Generation.current += 1
        _library.check(code, "aclFinalizeReference")


def context_of(device: int) -> int:
    """Returns the primary context of a device. The first call for a device counts one use of it."""
    with _lock:
        if not _started:
            _start(None)
        context = _contexts.get(device)
        if context is None:
            number = integer("Device", "index", device, 0, MOST_INDEX, INVALID_DEVICE)
            _library.check(_library.set_device(number), "aclrtSetDevice")
            handle = c_void_p()
            _library.check(_library.get_context(byref(handle)), "aclrtGetCurrentContext")
            context = _contexts[device] = handle.value or 0
        return context


def device_count() -> int:
    """Returns the number of emulated devices."""
    with _lock:
        if not _started:
            _start(None)
        count = c_uint32()
        _library.check(_library.device_count(byref(count)), "aclrtGetDeviceCount")
        return count.value


def soc_name() -> str:
    """Returns the name of the emulated SoC, for instance "Ascend910B3"."""
    with _lock:
        if not _started:
            _start(None)
        name = _library.soc_name()
    if name is None:
        raise AdvanceStepError(100008, "aclrtGetSocName: the settings are not valid")
    return str(name.decode())


class ThreadState(threading.local):
    """The current device and streams of a thread, and its own plans."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.generation = Generation.current
        self.active = -1  # device of the context that is current in the C library; -1: unknown
        self.device = 0
        self.streams: dict[int, Any] = {}  # a Stream by device: its own, or of a with block
        self.plans: dict[Any, Any] = {}
        # One entry for each open with block: the device before it, and for a with block of a stream
        # also the stream's device and its stream before the block.
        self.saved: list[tuple[int, int | None, Any]] = []

    def refresh(self) -> None:
        """Clears the state if the runtime has ended since the last call."""
        if self.generation != Generation.current:
            self._reset()

    def activate(self, device: int) -> None:
        """Makes the device's primary context current in the C library."""
        self.active = -1
        _library.check(_library.set_context(context_of(device)), "aclrtSetCurrentContext")
        self.active = device

    def leave(self) -> None:
        """Ends the innermost ``with`` block of a device or a stream."""
        if not self.saved:
            return  # the runtime has ended inside the block
        device, index, stream = self.saved.pop()
        self.device = device
        if index is not None:
            if stream is None:
                self.streams.pop(index, None)
            else:
                self.streams[index] = stream


thread = ThreadState()


def in_context(device: int, function: Any, handle: int) -> None:
    """Calls function with the device's context current and then restores the thread's context, also
    to none. It is for finalizers, which may run on any thread at any time, so it takes no lock and
    keeps its failures to itself."""
    context = _contexts.get(device)
    if context is None:
        return  # the runtime has ended, and the handle with it
    before = c_void_p()
    none = _library.get_context(byref(before)) != 0
    # A thread is without a context again when its current one ends.
    failed = none and _library.create_context(byref(before), device) != 0
    if not failed:
        failed = _library.set_context(context) != 0 or function(handle) != 0
        failed |= _library.set_context(before) != 0
        failed |= none and _library.destroy_context(before) != 0
    if none or failed:
        forget_failure()


def forget_failure() -> None:
    """Clears the thread's message and last error after a failure that is not the program's."""
    _library.recent_message()
    _library.last_error(_THREAD_LEVEL)
