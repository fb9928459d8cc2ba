# SPDX-License-Identifier: Apache-2.0
"""Objects that count as arrays, and the use of their memory in place."""

import array
import ctypes
import gc
import mmap

import advance_step
import numpy as np
import pytest
import reference
import torch
from advance_step._arrays import describe
from batches import NAMES, as_numpy, as_torch, batch, expect_state


class Interface:
    """An array of somebody else, known by its interface."""

    def __init__(self, owner):
        self.owner = owner
        self.__array_interface__ = owner.__array_interface__


def table_of(rows):
    """A memoryview with two dimensions over an array.array."""
    flat = array.array("q", [entry for row in rows for entry in row])
    return memoryview(flat).cast("B").cast("q", (len(rows), len(rows[0])))


def as_buffers(state):
    arrays = [array.array("q", state[name]) for name in NAMES[:5]]
    arrays[1] = memoryview(arrays[1]).cast("B").cast("q", (len(arrays[1]), 1))
    return [*arrays, table_of(state["block_tables"])]


def as_ctypes(state):
    arrays = [(ctypes.c_int64 * len(state[name]))(*state[name]) for name in NAMES[:5]]
    column = ctypes.c_int64 * 1
    arrays[1] = (column * len(arrays[1]))(*[column(token) for token in state["sampled_token_ids"]])
    return [*arrays, table_of(state["block_tables"])]


def on_device(state):
    """numpy arrays in device memory."""
    arrays = []
    for original in as_numpy(state):
        memory = advance_step.Device(0).allocate(original.nbytes)
        moved = np.frombuffer(memory, dtype=np.int64).reshape(original.shape)
        moved[...] = original
        arrays.append(moved)
    return arrays


def in_one_mapping(state):
    """numpy arrays side by side in anonymous mapped memory."""
    originals = as_numpy(state)
    memory = mmap.mmap(-1, sum(original.nbytes for original in originals))
    arrays, offset = [], 0
    for original in originals:
        numbers = np.frombuffer(memory, np.int64, original.size, offset)
        arrays.append(numbers.reshape(original.shape))
        arrays[-1][...] = original
        offset += original.nbytes
    return arrays


def torch_over_numpy(state):
    """Tensors that begin in the middle of numpy arrays."""
    return [torch.from_numpy(np.concatenate([part[:1], part])[1:]) for part in as_numpy(state)]


KINDS = {
    "array.array": as_buffers, "ctypes": as_ctypes, "device": on_device, "mapping": in_one_mapping,
    "torch over numpy": torch_over_numpy,
    "interface": lambda state: [Interface(original) for original in as_numpy(state)],
    "columns": lambda state: [part.reshape(-1, 1) if part.ndim == 1 else part
                              for part in as_numpy(state)],
    "mixed": lambda state: [*as_numpy(state)[:2], *as_torch(state)[2:4], *as_buffers(state)[4:]],
    "parts of one": lambda state: np_parts(as_numpy(state)),
    "subclass": lambda state: [part.view(np.recarray) if part.ndim == 1 else part
                               for part in as_numpy(state)],
}


def np_parts(arrays):
    whole = np.concatenate([part.reshape(-1) for part in arrays])
    ends = np.cumsum([part.size for part in arrays])
    return [whole[end - part.size:end].reshape(part.shape) for part, end in zip(arrays, ends)]


def values(kind, arrays):
    if kind == "interface":
        arrays = [part.owner for part in arrays]
    if kind == "columns":
        arrays = [part.reshape(-1) if name in NAMES[:1] + NAMES[2:5] else part
                  for name, part in zip(NAMES, arrays)]
    return arrays


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    for seed in range(20):
        state, *sizes = batch(seed)
        arrays = KINDS[kind](state)
        for _ in range(2):
            try:
                wanted = reference.advance(state, *sizes)
            except reference.DataFault:
                wanted = state
                with pytest.raises(advance_step.DataError):
                    advance_step.advance_step(*arrays, *sizes)
            else:
                advance_step.advance_step(*arrays, *sizes)
            expect_state(values(kind, arrays), wanted)
            state = wanted


def test_table_of_int32_with_rows_apart():
    state, *sizes = batch(3, columns=6)
    wide = np.full((sizes[0], 11), -7, dtype=np.int32)
    wide[:, 2:8] = state["block_tables"]
    arrays = [*as_numpy(state)[:5], wide[:, 2:8]]
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))


def test_read_only_inputs():
    state, *sizes = batch(4)
    arrays = as_numpy(state)
    for at in (1, 5):
        arrays[at].setflags(write=False)
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))


def test_bytes_are_refused_as_output():
    state, *sizes = batch(4)
    arrays = as_numpy(state)
    arrays[0] = memoryview(arrays[0].tobytes()).cast("q")
    with pytest.raises(advance_step.ArgumentError, match="input_tokens is read-only"):
        advance_step.advance_step(*arrays, *sizes)


def test_buffers_are_released():
    state, *sizes = batch(4)
    arrays = as_buffers(state)
    advance_step.advance_step(*arrays, *sizes)
    arrays[0].append(1)  # BufferError while a buffer is exported


CHANGES = {
    "shape": (lambda a: setattr(a[0], "shape", (2, -1)), 561002),
    "dtype": (lambda a: setattr(a[0], "dtype", np.float64), 161002),
    "strides": (lambda a: setattr(a[5], "strides", (0, 8)), 161002),
    "flags": (lambda a: a[0].setflags(write=False), 161002),
    "size": (lambda a: a[0].resize(50, refcheck=False), 561002),
}


@pytest.mark.parametrize("how", CHANGES)
def test_arrays_that_changed_since_the_last_call(how):
    """Plans are kept: an array that is another one now must not be taken for what it was."""
    change, code = CHANGES[how]
    state, *sizes = batch(5, num_seqs=12, num_queries=9, block_size=4, columns=6)
    state["seq_lens"] = [3] * 12
    arrays = as_numpy(state)
    advance_step.advance_step(*arrays, *sizes)
    advance_step.advance_step(*arrays, *sizes)
    before = [part.copy() for part in arrays[1:]]
    change(arrays)
    with pytest.raises(advance_step.ArgumentError) as caught:
        advance_step.advance_step(*arrays, *sizes)
    assert caught.value.code == code
    for part, old in zip(arrays[1:5], before):
        assert np.array_equal(part, old)


def test_a_plan_is_for_arrays_of_numpy_only():
    """Other objects may come to the id of an array that is gone."""
    from advance_step._runtime import thread

    state, *sizes = batch(5)
    arrays = as_numpy(state)
    advance_step.advance_step(*arrays, *sizes)
    plan = list(thread.plans.values())[-1]
    assert plan.holds(arrays)
    assert not plan.holds([part.view(np.matrix) if part.ndim == 2 else part for part in arrays])
    assert not plan.holds([object()] * 6)


def test_memory_that_moved():
    state, *sizes = batch(5, num_seqs=12, num_queries=9, block_size=4, columns=600)
    state["seq_lens"] = [3] * 12
    for arrays in (as_numpy(state), as_torch(state)):
        wanted = state
        for turn in range(30):
            advance_step.advance_step(*arrays, *sizes)
            wanted = reference.advance(wanted, *sizes)
            expect_state(arrays, wanted)
            for at in (0, 5):
                if isinstance(arrays[at], torch.Tensor):
                    arrays[at].set_(arrays[at].clone())
                else:
                    shape = arrays[at].shape
                    arrays[at].resize(shape[0] * 500 * (turn + 2), refcheck=False)
                    arrays[at].resize(shape, refcheck=False)


def test_memory_that_comes_and_goes():
    """New arrays in the places of old ones, of other sizes: what was registered there overlaps
    them."""
    rng = np.random.default_rng(2)
    makers = (as_numpy, as_torch, as_buffers, on_device, in_one_mapping, torch_over_numpy)
    for turn in range(400):
        columns = int(rng.integers(1, 3000)) if turn % 7 == 0 else int(rng.integers(1, 40))
        state, *sizes = batch(turn, num_seqs=int(rng.integers(2, 12)), num_queries=1, block_size=4,
                              columns=columns)
        arrays = makers[turn % len(makers)](state)
        advance_step.advance_step(*arrays, *sizes)
        expect_state(arrays, reference.advance(state, *sizes))


def test_arrays_are_not_kept_alive():
    import weakref

    state, *sizes = batch(4)
    arrays = as_numpy(state)
    advance_step.advance_step(*arrays, *sizes)
    references = [weakref.ref(part) for part in arrays]
    del arrays
    gc.collect()
    assert [reference() for reference in references] == [None] * 6


def test_tensors_whose_memory_has_other_values_are_refused():
    conjugated = torch.conj(torch.tensor([1 + 2j]))
    for view in (conjugated, conjugated.imag):
        with pytest.raises(advance_step.ArgumentError, match="x is negated or conjugated only when"):
            describe(view, "x")
        assert describe(view.resolve_neg().resolve_conj(), "x").shape == (1,)
