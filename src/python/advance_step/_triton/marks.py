# SPDX-License-Identifier: Apache-2.0
"""A task of the stream in the place of a launch, for traces and the sanitizer.

It does nothing and says which memory the kernel was given, and which part of that it has written.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import os
from collections.abc import Iterator
from typing import Any

_READ, _WRITTEN, _PARTLY = 1 << 63, 1 << 62, 1 << 61  # ADVSTEP_RANGE_*
_STORES = ("store", "atomic_rmw", "atomic_cas")  # of the interpreter, and where their pointers are
_POINTERS = (0, 1, 0)

_names: dict[str, ctypes.Array[ctypes.c_char]] = {}  # the runtime keeps the addresses


class _Range(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class _Operator(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("run", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("args", ctypes.c_void_p), ("ranges", ctypes.POINTER(_Range)), ("count", ctypes.c_uint64)]


class _Nothing:
    """Marks of a process in which nobody looks."""

    def queue(self, torch: Any) -> None:
        pass


class _Marks:
    """The memory of one launch, and the places that the kernel has written."""

    def __init__(self, name: str, memory: list[tuple[int, int]]) -> None:
        self.name = f"triton::{name}"
        self.memory = sorted({part for part in memory if part[0] < part[1]})
        self.written: set[int] = set()  # indices of that

    def note(self, pointers: Any) -> None:
        for pointer in {int(pointers.min()), int(pointers.max())} if pointers.size else ():
            at = bisect.bisect_right(self.memory, (pointer, 1 << 64)) - 1
            if at >= 0 and pointer < self.memory[at][1]:
                self.written.add(at)

    def _ranges(self) -> Any:
        found = [_Range(begin, (end - begin) | _PARTLY | _READ | (_WRITTEN if at in self.written else 0))
                 for at, (begin, end) in enumerate(self.memory)]
        return (_Range * len(found))(*found)

    def queue(self, torch: Any) -> None:
        """Queues the task, behind the launch, which has run."""
        name = _names.setdefault(self.name, ctypes.create_string_buffer(self.name.encode()))
        # A function of the C library whose result is 0 for no argument: no lock of Python is needed.
        nothing = ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p)
        ranges = self._ranges()
        operator = _Operator(ctypes.addressof(name), nothing, None, None, ranges, len(ranges))
        code = ctypes.CDLL("libascendcl.so").advstepLaunchHostOperator(
            ctypes.c_void_p(torch.npu.current_stream().npu_stream), ctypes.byref(operator))
        if code:
            raise RuntimeError(f"{self.name}: advstepLaunchHostOperator returns {code}")


class _Proxy:
    """The interpreter's own functions; those that write note where."""

    def __init__(self, functions: Any, marks: _Marks) -> None:
        self._functions = functions
        for name, place in zip(_STORES, _POINTERS):
            setattr(self, name, self._noting(getattr(functions, name), marks, place))

    @staticmethod
    def _noting(function: Any, marks: _Marks, place: int) -> Any:
        def call(*arguments: Any) -> Any:
            marks.note(arguments[place])
            return function(*arguments)

        return call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._functions, name)


def _wanted() -> bool:
    return any(os.environ.get(name) for name in ("ADVANCE_STEP_TRACE", "ADVANCE_STEP_SANITIZE"))


@contextlib.contextmanager
def of(interpreter: Any, name: str, memory: list[tuple[int, int]]) -> Iterator[Any]:
    """Notes what a launch writes until the end of the scope."""
    if not _wanted():
        yield _Nothing()
        return
    marks, functions = _Marks(name, memory), interpreter._interpreter
    interpreter._interpreter = _Proxy(functions, marks)
    try:
        yield marks
    finally:
        interpreter._interpreter = functions
