# SPDX-License-Identifier: Apache-2.0
"""Runs operators: finds or makes the plan, queues a run, and waits."""

from __future__ import annotations

from itertools import count
from operator import index
from typing import Any, Callable

from . import _host_memory, _library
from ._arguments import instance
from ._errors import RUNTIME_ERROR
from ._held_work import NOT_WAITED
from ._plan import Operator, Plan
from ._runtime import Generation, thread
from .stream import Stream, current_stream

_MOST_PLANS = 128  # for each thread
_ATTEMPTS = 8
_synchronize = _library.finish
_runs = count(1)


def launch(operator: Operator, arrays: tuple[Any, ...], attributes: tuple[int, ...],
           stream: Stream | None, wait: bool) -> None:
    """Runs an operator once.

    Args:
        stream: the stream of the run; None: the thread's current stream.
        wait: whether to return only after the run; otherwise a later synchronisation raises
            failures on the device.
    """
    state = thread
    if state.generation != Generation.current:
        state.refresh()
    if stream is None:
        stream = state.streams.get(state.device)
        if stream is None:
            stream = current_stream()
    elif type(stream) is not Stream:
        instance(operator.name, "stream", stream, Stream)
    device = stream.device.index
    if state.active != device:
        state.activate(device)
    try:
        attributes = tuple(map(index, attributes))  # accepts numpy numbers too
    except TypeError:
        attributes = operator.integers(attributes)  # raises with the name
    key = (operator, stream.handle, attributes, *map(id, arrays))
    plan = state.plans.get(key)
    if plan is None or not plan.holds(arrays):
        plan = _make(operator, arrays, attributes, device)
        if plan.watches is not None:
            _keep(state.plans, key, plan)
    if _run(plan, stream, arrays, wait):
        _run_anew(lambda: _make(operator, arrays, attributes, device), stream, arrays, wait)


def _make(operator: Operator, arrays: tuple[Any, ...], attributes: tuple[int, ...],
          device: int) -> Plan:
    thread.activate(device)  # other code of the process may have changed the thread's context
    return Plan(operator, arrays, attributes)


def _keep(plans: dict[Any, Plan], key: Any, plan: Plan) -> None:
    plans.pop(key, None)
    while len(plans) >= _MOST_PLANS:
        try:
            plans.pop(next(iter(plans)), None)  # the oldest
        except (RuntimeError, StopIteration):
            pass  # a call of a finalizer or a signal handler came between
    plans[key] = plan


def _run(plan: Plan, stream: Stream, arrays: Any, wait: bool) -> int:
    """Queues a run and waits for it if `wait` is set. It holds the stream's lock, so that no other
    call reports the failure of this run. The stream keeps the arrays until a synchronisation has
    waited for the run. A call of a finalizer or a signal handler may come between any two steps.

    The arrays of work that has been waited for end after the lock is free, because their finalizers
    may use a stream that another thread has, whose finalizers use this one.

    Returns RUNTIME_ERROR, with nothing queued, or 0; raises other failures.
    """
    ended: dict[int, Any] = {}
    with stream._lock:
        key = id(plan)
        queued = key in stream._held  # by an earlier run, whose arrays have the same memory
        run = stream._newest = next(_runs)
        stream._held[key] = (plan, arrays)
        stream.dirty = True
        code: int = plan.run(stream._argument)
        if code:
            if not queued:
                stream._held.pop(key, None)
            if code == RUNTIME_ERROR:
                return code
            _library.check(code, "phase two")
        if wait:
            code = _synchronize(stream._argument)
            # Another call may have queued work after the wait.
            if stream._newest == run and code not in NOT_WAITED:
                ended, stream._held = stream._held, ended
                stream.dirty = False
            if code:
                _library.check(code, "aclrtSynchronizeStream")
        elif stream._newest != run:  # another call may have waited before this was queued
            stream._held[key] = (plan, arrays)
            stream.dirty = True
    return 0


def _run_anew(make: Callable[[], Plan], stream: Stream, arrays: Any, wait: bool) -> None:
    """Runs again after RUNTIME_ERROR, because other code may have changed the registration of the
    memory or the thread's context. It makes several attempts, because other threads may be changing
    registrations."""
    code = RUNTIME_ERROR
    for _ in range(_ATTEMPTS):
        plan = make()
        _host_memory.renew(plan.ranges)
        code = _run(plan, stream, arrays, wait)
        if code == 0:
            return
    _library.check(code, "phase two")


class PreparedCall:
    """An operator on given arrays that is checked and planned once and can run many times.

    ``call()`` runs it and waits; ``call(wait=False)`` queues it. A call costs about a microsecond.
    It uses the memory that the arrays had when the call was prepared. Several threads may call it;
    they take turns.
    """

    def __init__(self, operator: Operator, arrays: tuple[Any, ...], attributes: tuple[int, ...],
                 stream: Stream | None) -> None:
        thread.refresh()
        self._stream = (current_stream() if stream is None else
                        instance(operator.name, "stream", stream, Stream))
        self._device = self._stream.device.index
        self._arrays = arrays
        self._plan = _make(operator, arrays, attributes, self._device)
        self._watches = self._plan.watches  # None: exported arrays do not move
        self._generation = Generation.current

    def __call__(self, *, wait: bool = True) -> None:
        """Runs the operator.

        Args:
            wait: whether to return only after the run.

        Raises:
            RuntimeError: the memory of an array has moved, or finalize() was called since.
            AdvanceStepError: as the operator's function.
        """
        stream = self._stream
        state = thread
        if self._generation != Generation.current or not (
                self._watches is None or self._watches.in_place()):
            raise RuntimeError("prepared call: the memory of its arrays has moved or the runtime "
                               "has ended since; expected a new prepared call")
        if state.generation != Generation.current:
            state.refresh()
        if state.active != self._device:
            state.activate(self._device)
        if _run(self._plan, stream, self._arrays, wait):
            _run_anew(self._again, stream, self._arrays, wait)

    def _again(self) -> Plan:
        thread.activate(self._device)
        return self._plan
