# SPDX-License-Identifier: Apache-2.0
"""Models of graphs that ended before their replays, and task groups that an exception left open.

torch_npu destroys the model of an NPUGraph with the graph. The runtime refuses that while a replay is
pending, torch_npu warns and does not try again, and the model would stay until the process ends. So
the next capture tries again.

A capture does not end while a task group is open, so one that failed within a group would leave its
stream captured for ever.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import sys
import weakref
from typing import Any

from . import _parts

_RUNNING = 107037  # ACL_ERROR_RT_MODEL_RUNNING
_THREAD_LEVEL = 0  # aclrtLastErrLevel
_ended: collections.deque[int] = collections.deque()  # models of graphs that have ended


def _destroy_ended(runtime: Any) -> None:
    """Destroys those whose replays have ended. torch_npu has destroyed most of them itself."""
    failed = False
    for _ in range(len(_ended)):
        try:
            model = _ended.popleft()
        except IndexError:
            break  # another thread has taken it
        code = runtime.aclmdlRIDestroy(ctypes.c_void_p(model))
        failed = failed or code != 0
        if code == _RUNNING:
            _ended.append(model)
    if failed:
        _forget_failure(runtime)


def _forget_failure(runtime: Any) -> None:
    """Clears what is no failure of the program."""
    runtime.aclGetRecentErrMsg()
    runtime.aclrtGetLastError(_THREAD_LEVEL)


def _end_group(runtime: Any, stream: int) -> None:
    """Ends the task group that may be open on a stream."""
    if runtime.aclmdlRICaptureTaskGrpEnd(ctypes.c_void_p(stream), ctypes.byref(ctypes.c_void_p())):
        _forget_failure(runtime)


def captured(runtime: Any, stream: int) -> int:
    """Returns the model that the stream is captured into, or 0."""
    status, model = ctypes.c_int(), ctypes.c_void_p()
    runtime.aclmdlRICaptureGetInfo(ctypes.c_void_p(stream), ctypes.byref(status),
                                   ctypes.byref(model))
    return model.value or 0


def _around_begin(runtime: Any, begin: Any) -> Any:
    def capture_begin(self: Any, *arguments: Any, **options: Any) -> Any:
        _destroy_ended(runtime)
        return begin(self, *arguments, **options)

    return capture_begin


def _around_end(torch: Any, runtime: Any, end: Any) -> Any:
    def capture_end(self: Any, *arguments: Any, **options: Any) -> Any:
        stream = torch.npu.current_stream().npu_stream
        if sys.exc_info()[0] is not None:  # of an operator in the capture
            _end_group(runtime, stream)
        model = captured(runtime, stream)
        result = end(self, *arguments, **options)
        if model:
            self._advance_step_end = weakref.finalize(self, _ended.append, model)
            self._advance_step_end.atexit = False  # the end of the context destroys its models
        return result

    return capture_end


def _around_reset(reset: Any) -> Any:
    def reset_and_note(self: Any, *arguments: Any, **options: Any) -> Any:
        if hasattr(self, "_advance_step_end"):
            self._advance_step_end()
        return reset(self, *arguments, **options)

    return reset_and_note


def _around_update(runtime: Any, update: Any) -> Any:
    def update_or_end(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return update(self, *arguments, **options)
        except BaseException:
            stream = self.graph_dispatch_mode.update_stream
            if runtime.aclmdlRICaptureTaskUpdateEnd(ctypes.c_void_p(stream.npu_stream)):
                _forget_failure(runtime)
            raise

    return update_or_end


def register(torch: Any) -> None:
    """Makes graphs remember their models, and end what failed."""
    runtime = ctypes.CDLL("libascendcl.so")
    _parts.wrap(torch.npu.NPUGraph,
                capture_begin=functools.partial(_around_begin, runtime),
                capture_end=functools.partial(_around_end, torch, runtime),
                reset=_around_reset,
                update=functools.partial(_around_update, runtime))
