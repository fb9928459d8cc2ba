# SPDX-License-Identifier: Apache-2.0
"""The host operators of the extension, which torch's dispatcher calls without Python."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

from . import _aclnn_operators, _torch_operators

_libraries: list[ctypes.CDLL] = []


def _file(torch: Any) -> pathlib.Path:
    """Returns the path of the extension for this torch, which may not be there."""
    version = torch.__version__.split("+")[0]
    return pathlib.Path(__file__).resolve().parent / f"_torch_kernels-{version}.so"


def _address(library: ctypes.CDLL, name: str) -> ctypes.c_void_p:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p)


def _bind(library: ctypes.CDLL) -> None:
    runtime = ctypes.CDLL("libascendcl.so")
    library.advstep_torch_bind(
        *(_address(runtime, name) for name in (
            "aclmdlRICaptureGetInfo", "aclrtStreamQuery", "aclrtSynchronizeStream",
            "advstepLaunchHostOperator", "advstepLaunchShortHostOperator", "aclGetRecentErrMsg")))


def _wait_for_draws(torch: Any, library: ctypes.CDLL) -> None:
    """Makes a replay that draws random numbers wait for its own end, so that the generator's offset
    follows the order of the program."""
    graph = torch.npu.NPUGraph
    begin, end, replay = graph.capture_begin, graph.capture_end, graph.replay
    count = library.advstep_torch_draws_recorded
    count.restype = ctypes.c_uint64
    before: dict[int, int] = {}

    def capture_begin(self: Any, *arguments: Any, **options: Any) -> Any:
        before[id(self)] = count()
        return begin(self, *arguments, **options)

    def capture_end(self: Any, *arguments: Any, **options: Any) -> Any:
        self._advance_step_draws = count() != before.pop(id(self), count())
        return end(self, *arguments, **options)

    def replay_and_wait(self: Any, *arguments: Any, **options: Any) -> Any:
        result = replay(self, *arguments, **options)
        if getattr(self, "_advance_step_draws", False):
            torch.npu.current_stream().synchronize()
        return result

    graph.capture_begin, graph.capture_end, graph.replay = capture_begin, capture_end, replay_and_wait


def load(torch: Any, queue: bool) -> ctypes.CDLL | None:
    """Loads the extension, or returns None if there is none for this torch."""
    file = _file(torch)
    if not file.is_file():
        return None
    library = ctypes.CDLL(str(file))
    _libraries.append(library)  # registrations refer to it
    _bind(library)
    # A trace shows only work that runs in streams.
    queue = queue or bool(os.environ.get("ADVANCE_STEP_TRACE"))
    library.advstep_torch_set(int(queue), int(os.environ.get("ASCEND_LAUNCH_BLOCKING") == "1"))
    return library


def register(torch: Any, library: ctypes.CDLL) -> None:
    """Registers the extension's operators."""
    library.advstep_torch_register.restype = ctypes.c_int64
    library.advstep_torch_failure.restype = ctypes.c_char_p
    kept = " ".join(sorted(_aclnn_operators.names()))
    if library.advstep_torch_register(kept.encode(), _torch_operators.lines().encode()) < 0:
        raise ImportError(f"{_file(torch)}: "
                          + library.advstep_torch_failure().decode("utf-8", "replace"))
    _wait_for_draws(torch, library)
