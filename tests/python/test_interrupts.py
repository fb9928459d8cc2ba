# SPDX-License-Identifier: Apache-2.0
"""What is left of calls that failed, or that an exception of a signal (KeyboardInterrupt) ended."""

import gc
import sys
import threading
import weakref

import advance_step
import pytest
import reference
from advance_step import _host_memory, _launch, _library, _runtime
from advance_step._plan import Plan
from advance_step.operators import ADVANCE_STEP
from batches import as_numpy, batch, expect_state
from test_streams import ready


@pytest.mark.parametrize("how", ("call", "prepared"))
def test_a_call_that_failed_keeps_no_arrays(how):
    _, sizes, arrays = ready()
    arrays[3][2] = -5
    references = [weakref.ref(part) for part in arrays]
    stream = advance_step.Stream()
    with pytest.raises(advance_step.DataError):
        if how == "call":
            advance_step.advance_step(*arrays, *sizes, stream=stream)
        else:
            advance_step.prepare_advance_step(*arrays, *sizes, stream=stream)()
    del arrays
    gc.collect()
    assert [reference() for reference in references] == [None] * 6
    assert not stream.dirty


def test_a_run_that_was_not_queued_keeps_no_arrays(monkeypatch):
    _, sizes, arrays = ready()
    stream = advance_step.Stream()
    call = advance_step.prepare_advance_step(*arrays, *sizes, stream=stream)
    call(wait=False)
    (kept,) = stream._held.values()
    monkeypatch.setattr(call._plan, "run", lambda _: 107003)
    with pytest.raises(advance_step.AdvanceStepError, match="phase two"):
        call(wait=False)
    assert list(stream._held.values()) == [kept]  # the first run still uses them
    stream.synchronize()
    with pytest.raises(advance_step.AdvanceStepError, match="phase two"):
        call(wait=False)
    assert not stream._held


@pytest.mark.parametrize("when", ("before", "after"))
def test_an_interrupted_registration_is_not_in_the_way(when, monkeypatch):
    state, *sizes = batch(21)
    state["seq_lens"] = [0] * sizes[0]
    arrays = as_numpy(state)
    begin = arrays[5].ctypes.data
    advance_step.current_stream()
    _runtime.thread.activate(0)
    _host_memory._give_up_all()
    register = _library.host_register

    def interrupted(*arguments):
        if when == "after":
            assert register(*arguments) == 0
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_library, "host_register", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _host_memory.ensure([(begin, begin + 8)])
    advance_step.advance_step(*arrays, *sizes)  # needs more than was registered
    expect_state(arrays, reference.advance(state, *sizes))
    assert any(low <= begin < high for low, high, _ in _host_memory._ranges)


@pytest.mark.parametrize("kind", (Plan, advance_step.Stream, advance_step.Event))
def test_an_object_whose_init_did_not_begin_ends_silently(kind, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    kind.__new__(kind)
    gc.collect()
    assert not raised


def test_a_plan_that_fails_half_way_gives_its_executor_back(monkeypatch):
    _, sizes, arrays = ready()
    destroyed = []
    destroy = Plan.__del__.__defaults__

    def counted(executor):
        destroyed.append(executor.value)
        return destroy[0](executor)

    def interrupted(executor):
        raise KeyboardInterrupt

    monkeypatch.setattr(Plan.__del__, "__defaults__", (counted, *destroy[1:]))
    monkeypatch.setattr(_library, "set_repeatable", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Plan(ADVANCE_STEP, arrays, sizes)
    gc.collect()
    assert len(destroyed) == 1 and destroyed[0]


@pytest.mark.parametrize("kind, name", ((advance_step.Stream, "stream"), (advance_step.Event, "event")))
def test_a_handle_of_an_interrupted_init_is_given_back(kind, name, monkeypatch):
    create, destroy, seen = f"create_{name}", f"destroy_{name}", []
    functions = {each: getattr(_library, each) for each in (create, destroy)}

    def interrupted(*arguments):
        assert functions[create](*arguments) == 0
        raise KeyboardInterrupt

    def counted(handle):
        seen.append(functions[destroy](handle))
        return seen[-1]

    monkeypatch.setattr(_library, create, interrupted)
    monkeypatch.setattr(_library, destroy, counted)
    with pytest.raises(KeyboardInterrupt):
        kind()
    gc.collect()
    assert seen == [0]


@pytest.mark.parametrize("between", (lambda plans, oldest: plans.pop(oldest),
                                     lambda plans, oldest: plans.clear()))
def test_a_call_between_while_plans_make_room(between):
    class Plans(dict):
        def __iter__(self):
            places = super().__iter__()
            if not self.over:
                self.over = True
                between(self, next(super().__iter__()))
            return places

    for changed in (False, True):
        plans = Plans(enumerate("a" * _launch._MOST_PLANS))
        plans.over = not changed
        _launch._keep(plans, "new", "plan")
        assert plans["new"] == "plan" and len(plans) <= _launch._MOST_PLANS


@pytest.mark.parametrize("waits", (False, True))
def test_a_call_between_the_steps_of_a_run(waits, monkeypatch):
    """What is queued stays held, whether the call between comes before the run or after the wait."""
    _, sizes, arrays = ready()
    _, inner_sizes, inner_arrays = ready()
    stream = advance_step.Stream()
    outer = advance_step.prepare_advance_step(*arrays, *sizes, stream=stream)
    inner = advance_step.prepare_advance_step(*inner_arrays, *inner_sizes, stream=stream)
    if waits:
        wait = _launch._synchronize

        def wait_and_call(argument):
            monkeypatch.undo()
            code = wait(argument)
            inner(wait=False)
            return code

        monkeypatch.setattr(_launch, "_synchronize", wait_and_call)
        outer()
    else:
        run = outer._plan.run

        def call_and_run(argument):
            monkeypatch.undo()
            inner()
            return run(argument)

        monkeypatch.setattr(outer._plan, "run", call_and_run)
        outer(wait=False)
    held = (inner if waits else outer)._plan
    assert stream.dirty and any(plan is held for plan, _ in stream._held.values())
    stream.synchronize()
    assert not stream._held and not stream.dirty


class Ended:
    """An array whose end runs a function, as a finalizer of the program may."""

    def __init__(self, array, end):
        self.array, self.end = array, end
        self.__array_interface__ = array.__array_interface__

    def __del__(self):
        self.end()


@pytest.mark.parametrize("wait", ("call", "stream", "device"))
def test_finalizers_of_two_threads_do_not_wait_for_each_other(wait):
    """Arrays of queued work end when it has been waited for. Their finalizers use the other thread's stream."""
    streams = advance_step.Stream(0), advance_step.Stream(1)
    both, ended = threading.Barrier(2), []  # the barrier: both threads are in a finalizer

    def work(mine, other):
        _, sizes, arrays = ready()
        call = advance_step.prepare_advance_step(*ready(2)[2], *sizes, stream=other)

        def end():
            both.wait(60)
            call()
            ended.append(mine)

        advance_step.advance_step(Ended(arrays[0], end), *arrays[1:], *sizes, stream=mine, wait=False)
        if wait == "call":
            advance_step.advance_step(*ready(3)[2], *sizes, stream=mine)
        else:
            (mine if wait == "stream" else mine.device).synchronize()

    threads = [threading.Thread(target=work, args=pair, daemon=True)
               for pair in (streams, streams[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 2
