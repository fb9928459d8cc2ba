"""Start and end of the runtime, and what each thread has current.

The C library keeps a current context per thread. `ThreadState.active` is the device whose context
this package made current last, so that the hot path need not ask. Lock `_lock` guards the start,
the end and the contexts; all else here belongs to one thread.
"""

from __future__ import annotations

import os
import threading
from ctypes import byref, c_uint32, c_void_p
from typing import TYPE_CHECKING, Any, Callable

from . import _library
from ._errors import AdvanceStepError, make_error

if TYPE_CHECKING:
    from .device import Stream

_REPEAT_INITIALIZE = 100002

_lock = threading.RLock()
_started = False
_contexts: dict[int, int] = {}
_before_end: list[Callable[[], None]] = []


class Generation:
    """Counts the ends of the runtime: a handle of an earlier generation is void."""

    current = 0


def on_end(function: Callable[[], None]) -> None:
    """Has function called before the runtime ends."""
    _before_end.append(function)


def _start(config: str | None) -> None:
    global _started
    path = os.fsencode(config) if config is not None else None
    code = _library.acl_init(path)
    if code != _REPEAT_INITIALIZE:  # somebody else's aclInit: ours is one more reference
        _library.check(code, "aclInit")
    else:
        _library.recent_message()
    _started = True


def initialize(config: str | os.PathLike[str] | None = None) -> None:
    """Starts the runtime with a settings file; without this call the first use starts it.

    Args:
        config: JSON file with an object "advance_step" of settings, see docs/runtime.md. The
            environment wins over it.

    Raises:
        AdvanceStepError: the file or a setting is not valid, or the runtime has been started.
    """
    with _lock:
        if _started:
            raise make_error(_REPEAT_INITIALIZE, "initialize: the runtime has been started; "
                             "expected finalize() before, or this call before any other")
        _start(os.fspath(config) if config is not None else None)


def finalize() -> None:
    """Ends the runtime if nobody else in the process uses it; the next use reads the settings anew.

    Waits for pending work. Streams, events and device memory of before are void. No other thread
    may be in a call of this package.
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
    """The primary context of a device, which this process then uses once."""
    with _lock:
        if not _started:
            _start(None)
        context = _contexts.get(device)
        if context is None:
            _library.check(_library.set_device(device), "aclrtSetDevice")
            handle = c_void_p()
            _library.check(_library.get_context(byref(handle)), "aclrtGetCurrentContext")
            context = _contexts[device] = handle.value or 0
        return context


def device_count() -> int:
    """Number of emulated devices."""
    with _lock:
        if not _started:
            _start(None)
        count = c_uint32()
        _library.check(_library.device_count(byref(count)), "aclrtGetDeviceCount")
        return count.value


def soc_name() -> str:
    """Name of the emulated SoC, for instance "Ascend910B3"."""
    with _lock:
        if not _started:
            _start(None)
        name = _library.soc_name()
    if name is None:
        raise AdvanceStepError(100008, "aclrtGetSocName: the settings are not valid")
    return str(name.decode())


class ThreadState(threading.local):
    """What a thread has current, and the plans that only it may run."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.generation = Generation.current
        self.active = -1  # device of the context that is current in the C library; -1: unknown
        self.device = 0
        self.streams: dict[int, Stream] = {}  # by device: the thread's own, or that of a with block
        self.plans: dict[Any, Any] = {}
        # For each with block that is open: device, and of a stream's the device and stream before.
        self.saved: list[tuple[int, int | None, Stream | None]] = []

    def refresh(self) -> None:
        """Forgets everything if the runtime has ended since."""
        if self.generation != Generation.current:
            self._reset()

    def activate(self, device: int) -> None:
        """Makes the device's primary context current in the C library."""
        self.active = -1
        _library.check(_library.set_context(context_of(device)), "aclrtSetCurrentContext")
        self.active = device


thread = ThreadState()
