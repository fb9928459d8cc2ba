# SPDX-License-Identifier: Apache-2.0
"""Registrations of memory with the runtime: overlaps, threads, and others that register."""

import ctypes
import mmap
import random
import threading

import advance_step
import numpy as np
import pytest
import reference
import torch
from advance_step import _held_work, _host_memory, _library, _runtime
from batches import as_numpy, batch, expect_state


class Part:
    """An int64 array at an address; keeps its owner."""

    def __init__(self, owner, address, shape):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": "<i8", "shape": shape,
                                    "data": (address, False)}


def address_of(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def listed():
    return [(begin, end) for begin, end, _ in _host_memory._ranges]


def test_overlapping_parts_become_one_range():
    memory = mmap.mmap(-1, 1 << 16)
    begin = address_of(memory)
    with_context = _runtime.thread
    advance_step.current_stream()
    with_context.activate(0)
    _host_memory._give_up_all()  # memory of other tests, freed since, may have had these addresses
    _host_memory.ensure([(begin, begin + 100), (begin + 300, begin + 400)])
    assert (begin, begin + 100) in listed() and (begin + 300, begin + 400) in listed()
    _host_memory.ensure([(begin + 350, begin + 450)])
    assert (begin + 300, begin + 450) in listed()
    _host_memory.ensure([(begin + 50, begin + 310)])
    assert (begin, begin + 450) in listed()
    _host_memory.ensure([(begin + 100, begin + 450), (begin, begin)])
    near = [entry for entry in listed() if begin <= entry[0] < begin + 500]
    assert near == [(begin, begin + 450)]
    _host_memory.ensure([(begin + 450, begin + 460)])  # a neighbour is no overlap
    assert (begin, begin + 450) in listed() and (begin + 450, begin + 460) in listed()


@pytest.mark.parametrize("kind", ("numpy", "torch"))
def test_views_share_the_registration_of_their_owner(kind):
    state, *sizes = batch(24)
    arrays = as_numpy(state)
    owner = np.zeros(10000, np.int64) if kind == "numpy" else torch.zeros(10000, dtype=torch.int64)
    part = owner[50:][50:50 + arrays[0].size]
    part[:] = arrays[0] if kind == "numpy" else torch.from_numpy(arrays[0])
    advance_step.advance_step(part, *arrays[1:], *sizes)
    begin = owner.ctypes.data if kind == "numpy" else owner.data_ptr()
    assert any(low <= begin and begin + 80000 <= high for low, high in listed())


def test_memory_of_the_old_range_is_gone():
    size = 1 << 28  # never touched; a hole of this size is not filled by anybody else meanwhile
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    begin = libc.mmap(None, size, 3, 0x22, -1, 0)  # to be read and written, private, anonymous
    advance_step.current_stream()
    _runtime.thread.activate(0)
    _host_memory.ensure([(begin + 8, begin + size)])
    assert libc.munmap(begin + size // 2, size // 2) == 0
    _host_memory.ensure([(begin, begin + 1024)])  # overlaps the old range, whose end is gone
    assert (begin, begin + 1024) in listed()
    assert libc.munmap(begin, size // 2) == 0


def drop_all():
    for begin, _ in listed():
        if _host_memory._pinned(begin):  # the others were dropped the last time
            assert _library.host_unregister(begin) == 0


def other_device():
    assert _library.set_device(1) == 0


def no_context():
    """Makes a context current that does not exist any more."""
    create, destroy = (getattr(ctypes.CDLL(advance_step.LIBRARY_PATH), name)
                       for name in ("aclrtCreateContext", "aclrtDestroyContext"))
    context = ctypes.c_void_p()
    assert create(ctypes.byref(context), 0) == 0
    assert destroy(context) == 0


@pytest.mark.parametrize("how", (drop_all, other_device, no_context))
@pytest.mark.parametrize("kind", ("again", "anew", "prepared"))
def test_others_have_changed_the_runtime(how, kind):
    state, *sizes = batch(21)
    state["seq_lens"] = [0] * sizes[0]
    state["block_tables"] = [[7] * 5] * sizes[0]
    sizes[2] = 2
    arrays = as_numpy(state)
    prepared = advance_step.prepare_advance_step(*arrays, *sizes)
    advance_step.advance_step(*arrays, *sizes)
    state = reference.advance(state, *sizes)
    for _ in range(2):
        how()
        if kind == "prepared":
            prepared()
        else:
            if kind == "anew":
                arrays = [part.copy() for part in arrays]
            advance_step.advance_step(*arrays, *sizes)
        state = reference.advance(state, *sizes)
        expect_state(arrays, state)
    if how is other_device:  # gives the uses back
        reset = ctypes.CDLL(advance_step.LIBRARY_PATH).aclrtResetDevice
        assert [reset(1), reset(1)] == [0, 0]


def test_memory_registered_by_others():
    state, *sizes = batch(22)
    arrays = as_numpy(state)
    owner = arrays[0]
    advance_step.current_stream()
    _runtime.thread.activate(0)
    _host_memory._give_up_all()
    address, size = owner.ctypes.data, owner.nbytes
    assert _library.host_register(address, size) == 0
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))
    assert _library.host_unregister(address) == 0
    before = [part.copy() for part in arrays]
    _host_memory._give_up_all()
    assert _library.host_register(address, size - 8) == 0
    try:  # only a part: this memory cannot be registered as a whole
        with pytest.raises(advance_step.AdvanceStepError, match="inputTokens takes") as caught:
            advance_step.advance_step(*arrays, *sizes)
        assert caught.value.code == 361001
        assert all(np.array_equal(part, old) for part, old in zip(arrays, before))
    finally:
        assert _library.host_unregister(address) == 0


def test_memory_of_another_device():
    state, *sizes = batch(23)
    arrays = as_numpy(state)
    memory = advance_step.Device(1).allocate(arrays[0].nbytes)
    arrays[0] = np.frombuffer(memory, np.int64)
    with pytest.raises(advance_step.AdvanceStepError, match="in no allocation of device 0"):
        advance_step.advance_step(*arrays, *sizes)
    with advance_step.Device(1):
        advance_step.advance_step(*arrays, *sizes)


def test_threads_with_overlapping_parts():
    """All threads read tables that lie across one another in one mapping; their registrations
    replace each other's all the time."""
    memory = mmap.mmap(-1, 1 << 20)
    numbers = np.frombuffer(memory, np.int64)
    numbers[:] = np.arange(numbers.size) % 1000
    base = address_of(memory)
    failures = []

    def work(seed):
        rng = random.Random(seed)
        try:
            for turn in range(120):
                rows, columns = rng.randint(2, 9), rng.randint(1, 400)
                offset = rng.randrange(numbers.size - rows * columns)
                state, *sizes = batch(seed * 999 + turn, rows, 1, 4, columns)
                table = numbers[offset:offset + rows * columns].reshape(rows, columns)
                state["block_tables"] = table.tolist()
                arrays = [*as_numpy(state)[:5], Part(memory, base + offset * 8, table.shape)]
                advance_step.advance_step(*arrays, *sizes)
                expect_state(arrays[:5], reference.advance(state, *sizes))
                if turn % 20 == 0:
                    _host_memory._give_up_all()
        except BaseException as failure:  # noqa: BLE001 - told by the main thread
            failures.append(failure)
            raise

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_list_does_not_grow_for_ever():
    memory = mmap.mmap(-1, 1 << 20)
    begin = address_of(memory)
    advance_step.current_stream()
    _runtime.thread.activate(0)
    for at in range(3000):
        _host_memory.ensure([(begin + at * 16, begin + at * 16 + 8)])
    assert len(listed()) <= 1024


# As a finalizer or a signal handler of the program may, which run between any two steps.
@pytest.mark.parametrize("inner", (_host_memory.ensure, _host_memory.renew))
@pytest.mark.parametrize("inside", ((50, 250), (90, 210), (95, 120), (0, 1000), (400, 500)))
@pytest.mark.parametrize("when", ("before", "after"))
@pytest.mark.parametrize("step", ("host_register", "host_unregister", "_forget", "_near"))
@pytest.mark.parametrize("turn", (1, 2))
def test_a_call_between_the_steps_of_another(inner, inside, when, step, turn, monkeypatch):
    memory = mmap.mmap(-1, 1 << 16)
    begin = address_of(memory)
    advance_step.current_stream()
    _runtime.thread.activate(0)
    _host_memory._give_up_all()
    _host_memory.ensure([(begin, begin + 100), (begin + 200, begin + 300)])
    owner = _library if step.startswith("host") else _host_memory
    original = getattr(owner, step)
    turns = 0

    def called_between(*arguments):
        nonlocal turns
        turns += 1
        if turns != turn:
            return original(*arguments)
        if when == "before":
            inner([(begin + inside[0], begin + inside[1])])
        result = original(*arguments)
        if when == "after":
            inner([(begin + inside[0], begin + inside[1])])
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, called_between)
        _host_memory.ensure([(begin + 90, begin + 210)])
    for low, high in ((90, 210), inside) if turns >= turn else ((90, 210),):
        wanted = [(begin + low, begin + high)]
        if not _host_memory._holds(*wanted[0]):
            _host_memory.ensure(wanted)  # the later one may have taken the place of the other
        assert _host_memory._holds(*wanted[0])
    entries = listed()
    assert all(first[1] <= second[0] for first, second in zip(entries, entries[1:]))
    assert all(_host_memory._pinned(low) and _host_memory._pinned(high - 1)
               for low, high in entries)
    _host_memory._give_up_all()
    assert _library.host_register(begin, 1 << 16) == 0
    assert _library.host_unregister(begin) == 0


def test_a_stream_that_is_made_while_another_is_enlisted(monkeypatch):
    class Streams(dict):
        inner = None

        def get(self, *arguments):
            if self.inner is None:
                self.inner = 0  # at the first look only
                self.inner = advance_step.Stream()
            return super().get(*arguments)

    streams = Streams(_held_work._streams)
    monkeypatch.setattr(_held_work, "_streams", streams)
    outer = advance_step.Stream()
    living = _held_work.streams_of(outer.device.index)
    assert outer in living and streams.inner in living
