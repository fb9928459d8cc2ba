# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events."""

import contextlib
import ctypes
import gc
import threading
import weakref

import advance_step
import pytest
import reference
from batches import as_numpy, as_torch, batch, expect_state

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_launch = ctypes.CDLL(advance_step.LIBRARY_PATH).aclrtLaunchHostFunc
_launch.argtypes = [ctypes.c_void_p, HOST_FUNCTION, ctypes.c_void_p]


@contextlib.contextmanager
def held(stream):
    """A stream that runs nothing further; open() on what it yields lets it go on."""
    gate = threading.Event()
    function = HOST_FUNCTION(lambda _: gate.wait(60) and None)
    assert _launch(stream.handle, function, None) == 0
    gate.open = gate.set
    try:
        yield gate
    finally:
        gate.set()
        with contextlib.suppress(advance_step.AdvanceStepError):
            stream.synchronize()


def ready(seed=1, make=as_numpy):
    """A batch whose arrays have been used once, so that the runtime knows them."""
    state, *sizes = batch(seed, num_seqs=12, num_queries=9, block_size=4, columns=16)
    state["seq_lens"] = [3] * 12
    arrays = make(state)
    advance_step.advance_step(*arrays, *sizes)
    return reference.advance(state, *sizes), sizes, arrays


@pytest.mark.parametrize("make", (as_numpy, as_torch))
def test_queued_work_runs_later(make):
    state, sizes, arrays = ready(make=make)
    stream = advance_step.Stream()
    with held(stream) as gate:
        advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
        advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
        expect_state(arrays, state)
        assert not stream.query()
        gate.open()
        stream.synchronize()
    assert stream.query()
    expect_state(arrays, reference.advance(reference.advance(state, *sizes), *sizes))


@pytest.mark.parametrize("how", ("call", "prepared"))
def test_queued_work_keeps_its_arrays(how):
    _, sizes, arrays = ready()
    stream = advance_step.Stream()
    references = [weakref.ref(part) for part in arrays]
    with held(stream) as gate:
        if how == "call":
            advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
        else:
            advance_step.prepare_advance_step(*arrays, *sizes, stream=stream)(wait=False)
        del arrays
        gc.collect()
        assert all(reference() is not None for reference in references)
        gate.open()
        stream.synchronize()
    gc.collect()
    assert [reference() for reference in references] == [None] * 6


def test_device_synchronize_lets_go_of_arrays():
    _, sizes, arrays = ready()
    stream = advance_step.Stream()
    references = [weakref.ref(part) for part in arrays]
    advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
    del arrays
    advance_step.Device(0).synchronize()
    gc.collect()
    assert [reference() for reference in references] == [None] * 6


def test_failure_is_raised_once_and_later_work_runs():
    state, sizes, arrays = ready()
    good_state, _, good = ready(2)
    stream = advance_step.Stream()
    arrays[3][2] = state["seq_lens"][2] = -5
    advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
    advance_step.advance_step(*good, *sizes, stream=stream, wait=False)
    with pytest.raises(advance_step.DataError, match="query 2: seqLens is -5"):
        stream.synchronize()
    stream.synchronize()
    expect_state(arrays, state)
    expect_state(good, reference.advance(good_state, *sizes))


def test_failure_shows_at_device_synchronize():
    _, sizes, arrays = ready()
    stream = advance_step.Stream()
    arrays[3][2] = -5
    advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
    with pytest.raises(advance_step.DataError, match="query 2"):
        advance_step.Device(0).synchronize()
    advance_step.Device(0).synchronize()


def test_two_streams_in_order_by_an_event():
    state, sizes, arrays = ready()
    first, second = advance_step.Stream(), advance_step.Stream()
    with held(first) as gate:
        advance_step.advance_step(*arrays, *sizes, stream=first, wait=False)
        event = first.record_event()
        second.wait_event(event)
        advance_step.advance_step(*arrays, *sizes, stream=second, wait=False)
        assert not event.query() and not second.query()
        expect_state(arrays, state)
        gate.open()
        second.synchronize()
    assert event.query()
    expect_state(arrays, reference.advance(reference.advance(state, *sizes), *sizes))


def test_two_streams_are_independent():
    _, sizes, arrays = ready()
    state, _, others = ready(2)
    slow = advance_step.Stream()
    with held(slow) as gate:
        advance_step.advance_step(*arrays, *sizes, stream=slow, wait=False)
        advance_step.advance_step(*others, *sizes, stream=advance_step.Stream())
        expect_state(others, reference.advance(state, *sizes))
        assert not slow.query()
        gate.open()


def test_wait_stream_and_events_with_time():
    first, second = advance_step.Stream(), advance_step.Stream()
    start, end = advance_step.Event(), advance_step.Event()
    assert start.query()  # never recorded
    start.record(first)
    second.wait_stream(first)
    end.record(second)
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(advance_step.AdvanceStepError) as caught:
        start.elapsed_time(advance_step.Event())
    assert caught.value.code == 507000


def test_current_device_and_stream():
    own = advance_step.current_stream()
    assert advance_step.current_device() == advance_step.Device(0)
    assert own is advance_step.current_stream()
    stream = advance_step.Stream(device=1)
    with stream:
        assert advance_step.current_device().index == 1
        assert advance_step.current_stream() is stream
        with advance_step.Device(0), stream:
            assert advance_step.current_stream(0) is own
            assert advance_step.current_stream() is stream
        assert advance_step.current_device().index == 1
    assert advance_step.current_stream() is own
    assert advance_step.current_stream(1) is not stream
    with pytest.raises(advance_step.AdvanceStepError) as caught:
        with advance_step.Device(2):
            pass
    assert caught.value.code == 107001
    assert advance_step.current_device().index == 0


def test_calls_on_other_devices():
    state, sizes, arrays = ready()
    for turn in range(6):
        with advance_step.Device(turn % 2):
            advance_step.advance_step(*arrays, *sizes)
        state = reference.advance(state, *sizes)
    expect_state(arrays, state)


def test_each_thread_has_a_stream_of_its_own():
    streams = [advance_step.current_stream()]
    threads = [threading.Thread(target=lambda: streams.append(advance_step.current_stream()))
               for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({stream.handle for stream in streams}) == 4


def test_threads_on_one_stream_get_their_own_failures():
    stream = advance_step.Stream()
    failures = []

    def work(query):
        try:
            for turn in range(100):
                state, sizes, arrays = ready(query)
                arrays[3][query] = -1 if turn % 2 else 3
                if turn % 2:
                    with pytest.raises(advance_step.DataError, match=f"query {query}:"):
                        advance_step.advance_step(*arrays, *sizes, stream=stream)
                else:
                    advance_step.advance_step(*arrays, *sizes, stream=stream)
        except BaseException as failure:  # noqa: BLE001 - told by the main thread
            failures.append(failure)
            raise

    threads = [threading.Thread(target=work, args=(query,)) for query in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_dropped_stream_has_run_its_work():
    state, sizes, arrays = ready()
    stream = advance_step.Stream()
    advance_step.advance_step(*arrays, *sizes, stream=stream, wait=False)
    del stream
    gc.collect()
    expect_state(arrays, reference.advance(state, *sizes))


def test_a_thread_without_a_context_stays_so_when_it_drops_a_stream():
    library = ctypes.CDLL(advance_step.LIBRARY_PATH)
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    streams = [advance_step.Stream(1)]
    handle = ctypes.c_void_p(streams[0].handle)
    seen = []

    def drop():
        del streams[:]
        gc.collect()
        seen.extend((library.aclGetRecentErrMsg(), library.aclrtGetLastError(0),
                     library.aclrtGetCurrentContext(ctypes.byref(ctypes.c_void_p()))))

    thread = threading.Thread(target=drop)
    thread.start()
    thread.join()
    assert seen == [None, 0, 107002]
    advance_step.Device(1).synchronize()  # makes the stream's context current
    assert library.aclrtSynchronizeStream(handle) == 107017  # it has been destroyed
    assert library.aclGetRecentErrMsg()
