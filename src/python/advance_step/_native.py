# SPDX-License-Identifier: Apache-2.0
"""The host operators of the extension, which torch's dispatcher calls without Python."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

from . import _aclnn_operators, _extension, _graphs, _parts, _python_lines, _task_queue, _torch_operators

_libraries: list[ctypes.CDLL] = []


def _address(library: ctypes.CDLL, name: str) -> ctypes.c_void_p:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p)


def _bind(library: ctypes.CDLL) -> None:
    runtime = ctypes.CDLL("libascendcl.so")
    library.advstep_torch_bind(
        *(_address(runtime, name) for name in (
            "aclmdlRICaptureGetInfo", "aclrtStreamQuery", "aclrtSynchronizeStream",
            "advstepLaunchHostOperator", "advstepLaunchShortHostOperator", "advstepZeroMemory",
            "aclGetRecentErrMsg")))


def _keep_draws(torch: Any, library: ctypes.CDLL) -> None:
    """Makes graphs keep the order of their draws of random numbers.

    A replay that draws waits for its own end, so that the generator's offset follows the order of the
    program. States that a program gets and sets in a capture hold in replays.
    """
    runtime = ctypes.CDLL("libascendcl.so")
    count = library.advstep_torch_draws_recorded
    count.restype = ctypes.c_uint64
    before: dict[int, int] = {}

    def stream() -> int:
        return int(torch.npu.current_stream().npu_stream)

    def end_draws() -> None:
        model = _graphs.captured(runtime, stream())
        # A failure is that of the capture, whose end raises it.
        library.advstep_torch_end_draws(ctypes.c_void_p(stream()), ctypes.c_void_p(model))

    def around_begin(begin: Any) -> Any:
        def capture_begin(self: Any, *arguments: Any, **options: Any) -> Any:
            before[id(self)] = count()
            result = begin(self, *arguments, **options)
            library.advstep_torch_begin_draws(ctypes.c_void_p(_graphs.captured(runtime, stream())))
            return result
        return capture_begin

    def around_end_of_part(end: Any) -> Any:
        def end_capture_to_conditional_node(self: Any, *arguments: Any, **options: Any) -> Any:
            end_draws()
            return end(self, *arguments, **options)
        return end_capture_to_conditional_node

    def around_end(end: Any) -> Any:
        def capture_end(self: Any, *arguments: Any, **options: Any) -> Any:
            self._advance_step_draws = count() != before.pop(id(self), count())
            if self._advance_step_draws:
                end_draws()
            return end(self, *arguments, **options)
        return capture_end

    def around_replay(replay: Any) -> Any:
        def replay_and_wait(self: Any, *arguments: Any, **options: Any) -> Any:
            result = replay(self, *arguments, **options)
            if getattr(self, "_advance_step_draws", False):
                torch.npu.current_stream().synchronize()
            return result
        return replay_and_wait

    _parts.wrap(torch.npu.NPUGraph, capture_begin=around_begin, capture_end=around_end, replay=around_replay,
                end_capture_to_conditional_node=around_end_of_part)


def load(torch: Any, wanted: str) -> ctypes.CDLL | None:
    """Loads the extension, or returns None if there is none for this torch. It is compiled, if it must be,
    for a mode of ADVANCE_STEP_HOST_OPERATORS that needs it."""
    version = torch.__version__
    file = _extension.find(version) if wanted == "python" else _extension.get(version)
    if file is None:
        return None
    library = ctypes.CDLL(str(file))
    _libraries.append(library)  # registrations refer to it
    _bind(library)
    _parts.attempt(torch, "the lines of Python in call stacks", _python_lines.show, torch, library)
    # A trace and the sanitizer see only work that runs in streams.
    sanitized = _task_queue.sanitized()
    queue = wanted == "queue" or sanitized or bool(os.environ.get("ADVANCE_STEP_TRACE"))
    library.advstep_torch_set(int(queue), int(os.environ.get("ASCEND_LAUNCH_BLOCKING") == "1"), int(sanitized))
    return library


def loaded() -> ctypes.CDLL | None:
    """Returns the extension, if it is loaded."""
    return _libraries[0] if _libraries else None


def register(torch: Any, library: ctypes.CDLL) -> None:
    """Registers the extension's operators."""
    library.advstep_torch_register.restype = ctypes.c_int64
    library.advstep_torch_failure.restype = ctypes.c_char_p
    kept = " ".join(sorted(_aclnn_operators.names()))
    if library.advstep_torch_register(kept.encode(), _torch_operators.lines().encode()) < 0:
        raise ImportError(f"{library._name}: "
                          + library.advstep_torch_failure().decode("utf-8", "replace"))
    _parts.attempt(torch, "the order of random numbers in replays of graphs", _keep_draws, torch, library)
