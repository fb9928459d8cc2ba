# SPDX-License-Identifier: Apache-2.0
"""torch_npu.npu.mstx without the library of an NPU's profiler.

Marks and ranges are ranges of torch's profilers, whose traces torch_npu.profiler writes. Nothing is
recorded where no profiler is on.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import threading
from typing import Any


class _Ranges:
    """Ranges that have begun and not ended. A trace ends all of them, because torch would write the
    end of one that lasts into the next trace, where its begin is not."""

    def __init__(self, torch: Any) -> None:
        self._begin = torch.ops.profiler._record_function_enter_new
        self._end = torch.ops.profiler._record_function_exit._RecordFunction
        self._numbers = itertools.count(1)
        # Held while a trace ends, so that no range begins then. A finalizer may begin one at any step.
        self.lock = threading.RLock()
        self._open: dict[int, Any] = {}  # guarded by the lock
        self._of_thread = threading.local()
        # Another thread may hold the lock when the process forks.
        os.register_at_fork(after_in_child=lambda: setattr(self, "lock", threading.RLock()))

    def mark(self, message: str, domain: str) -> None:
        self.end(self.start(message, domain))

    def start(self, message: str, domain: str) -> int:
        name = message if domain == "default" else f"{domain}: {message}"
        number = next(self._numbers)
        with self.lock:
            self._open[number] = self._begin(name, None)
        return number

    def end(self, number: int, _domain: str = "") -> None:
        with self.lock:
            one = self._open.pop(number, None)
            if one is not None:
                self._end(one)

    def end_all(self) -> None:
        for number in list(self._open):
            self.end(number)

    def _stack(self, domain: str) -> list[int]:
        """Returns the ranges of this thread that range_push began."""
        stacks: dict[str, list[int]] = self._of_thread.__dict__
        return stacks.setdefault(domain, [])

    def push(self, message: str, domain: str) -> int:
        stack = self._stack(domain)
        stack.append(self.start(message, domain))
        return len(stack) - 1

    def pop(self, domain: str) -> int:
        """Returns the depth of the range that it ends, or -1 if there is none."""
        stack = self._stack(domain)
        if stack:
            self.end(stack.pop())
            return len(stack)
        return -1


def register(torch: Any) -> None:
    """Takes the place of the functions behind torch_npu.npu.mstx, which need a library of CANN's."""
    ranges = _Ranges(torch)

    def of_stream(call: Any) -> Any:
        """Torch knows no streams of the device: its ranges are those of the thread."""
        return lambda message, _id, _index, _type, domain: call(message, domain)

    functions: Any = importlib.import_module("torch_npu._C")._mstx
    for name, call in (("mark", ranges.mark), ("range_start", ranges.start),
                       ("range_push", ranges.push)):
        setattr(functions, f"_{name}_on_host", call)
        setattr(functions, f"_{name}", of_stream(call))
    functions._range_end = ranges.end
    functions._range_pop = ranges.pop

    profiler = torch.autograd.profiler.profile
    leave = profiler.__exit__

    @functools.wraps(leave)
    def leave_after_ranges(self: Any, *failure: Any) -> Any:
        with ranges.lock:
            ranges.end_all()
            return leave(self, *failure)

    profiler.__exit__ = leave_after_ranges
