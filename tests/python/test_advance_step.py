# SPDX-License-Identifier: Apache-2.0
"""AdvanceStep from Python: random batches, in-place semantics, refusals."""

import threading

import advance_step
import numpy as np
import pytest
import reference
import torch
from batches import NAMES, as_numpy, as_torch, batch, expect_state


@pytest.mark.parametrize("conformance, cores", (("standard", 40), ("vllm", 48), ("exact", 7)))
def test_random_batches(machine, conformance, cores):
    machine(CONFORMANCE=conformance, SOC=f"sim:{cores}")
    refused = 0
    for seed in range(150):
        state, *sizes = batch(seed)
        if seed % 4 == 0:
            past = len(state["block_tables"][0]) * sizes[2]  # exact: the end of all rows
            state["seq_lens"][0] = past * (sizes[0] if seed % 8 == 0 else 1)
        arrays = (as_numpy if seed % 2 else as_torch)(state)
        try:
            wanted = reference.advance(state, *sizes, conformance=conformance, cores=cores)
        except reference.DataFault:
            refused += 1
            with pytest.raises(advance_step.DataError):
                advance_step.advance_step(*arrays, *sizes)
            wanted = state
        else:
            advance_step.advance_step(*arrays, *sizes)
        expect_state(arrays, wanted)
    assert 5 < refused < 100


def test_speculative_batches():
    rng = np.random.default_rng(1)
    for _ in range(60):
        rows, k, size, columns = rng.integers(1, 20), rng.integers(1, 4), 8, 10
        width = k + 1
        state = {
            "input_tokens": rng.integers(0, 99, rows * width).tolist(),
            "sampled_token_ids": rng.integers(-1, 9, (rows, width)).tolist(),
            "input_positions": rng.integers(0, size * columns - width, rows * width).tolist(),
            "seq_lens": [0] * (rows * width), "slot_mapping": [0] * (rows * width),
            "block_tables": rng.integers(0, 99, (rows, columns)).tolist(),
            "spec_token": rng.integers(0, 99, (rows, k)).tolist(),
            "accepted_num": rng.integers(0, width, rows).tolist()}
        names = tuple(state)
        arrays = as_numpy(state, names)
        sizes = (int(rows), int(rows), size)
        extra = {"spec_token": arrays[6], "accepted_num": arrays[7]}
        try:
            wanted = reference.advance_v2(state, int(rows), size)
        except reference.DataFault:
            wanted = state
            with pytest.raises(advance_step.DataError):
                advance_step.advance_step_v2(*arrays[:6], *sizes, **extra)
        else:
            advance_step.advance_step_v2(*arrays[:6], *sizes, **extra)
        expect_state(arrays, wanted, names)


def test_many_steps_in_place():
    state, *sizes = batch(5, block_size=16, columns=8)
    state["seq_lens"] = [0] * sizes[0]
    arrays = as_numpy(state)
    addresses = [array.ctypes.data for array in arrays]
    for _ in range(100):
        advance_step.advance_step(*arrays, *sizes)
        state = reference.advance(state, *sizes)
    expect_state(arrays, state)
    assert addresses == [array.ctypes.data for array in arrays]


def test_v2_without_spec_tokens_is_advance_step():
    state, *sizes = batch(6)
    arrays = as_numpy(state)
    advance_step.advance_step_v2(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))
    with pytest.raises(advance_step.ArgumentError, match="acceptedNum") as caught:
        advance_step.advance_step_v2(*arrays, *sizes, spec_token=arrays[5])
    assert caught.value.code == 161001


def test_vllm_takes_int32_lengths(machine):
    machine(CONFORMANCE="vllm")
    state, *sizes = batch(7)
    dtypes = dict.fromkeys(("seq_lens", "slot_mapping", "block_tables"), np.int32)
    arrays = as_numpy(state, dtypes=dtypes)
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))


REFUSALS = {
    "dtype": (161002, "inputTokens has dtype", lambda a: a.__setitem__(0, a[0].astype(np.float64))),
    "int32 lengths": (161002, "seqLens has dtype",
                      lambda a: a.__setitem__(3, a[3].astype(np.int32))),
    "shape": (561002, "slotMapping has shape", lambda a: a.__setitem__(4, a[4][:-1].copy())),
    "rank": (561002, "sampledTokenIds", lambda a: a.__setitem__(1, a[1].reshape(-1))),
    "strides": (161002, "inputPositions", lambda a: a.__setitem__(2, np.repeat(a[2], 2)[::2])),
    "reversed": (161002, "seqLens", lambda a: a.__setitem__(3, a[3][::-1])),
    "columns apart": (161002, "blockTables",
                      lambda a: a.__setitem__(5, np.repeat(a[5], 2, axis=1)[:, ::2])),
    "byte order": (161002, "input_tokens has typestr >i8",
                   lambda a: a.__setitem__(0, a[0].astype(">i8"))),
    "objects": (161002, "seq_lens has typestr", lambda a: a.__setitem__(3, a[3].astype(object))),
    "read-only": (161002, "slot_mapping is read-only", lambda a: a[4].setflags(write=False)),
    "overlap": (161002, "overlap", lambda a: a.__setitem__(3, a[2])),
    "list": (161002, "input_positions is list", lambda a: a.__setitem__(2, a[2].tolist())),
    "none": (161001, "blockTables is null", lambda a: a.__setitem__(5, None)),
}


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("warm", (False, True), ids=("first call", "after a good call"))
def test_refusals(name, warm):
    code, text, spoil = REFUSALS[name]
    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    state["seq_lens"] = [3] * 12
    arrays = as_numpy(state)
    if warm:
        advance_step.advance_step(*arrays, *sizes)
    spoil(arrays)
    before = [None if array is None else np.array(array) for array in arrays]
    with pytest.raises(advance_step.ArgumentError, match=text) as caught:
        advance_step.advance_step(*arrays, *sizes)
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)
    for array, old in zip(arrays, before):
        assert array is None or np.array_equal(array, old)


@pytest.mark.parametrize("attribute, value", ((0, 13), (1, 0), (1, 12), (2, 0), (2, -4)))
def test_attributes(attribute, value):
    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    arrays = as_numpy(state)
    sizes[attribute] = value
    with pytest.raises(advance_step.ArgumentError) as caught:
        advance_step.advance_step(*arrays, *sizes)
    assert caught.value.code == 561002
    expect_state(arrays, state)


@pytest.mark.parametrize("prepare", (False, True))
def test_attributes_that_are_no_plain_numbers(prepare):
    def call(*arguments):
        if prepare:
            advance_step.prepare_advance_step(*arguments)()
        else:
            advance_step.advance_step(*arguments)

    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    arrays = as_numpy(state)
    for bad, error in ((2.0, TypeError), (None, TypeError), ((1 << 64) + 12, ValueError)):
        with pytest.raises(error):
            call(*arrays, bad, *sizes[1:])
    expect_state(arrays, state)
    number = torch.tensor(sizes[0])
    call(*arrays, number, np.int32(sizes[1]), sizes[2])
    expect_state(arrays, reference.advance(state, *sizes))
    number += 1  # the kept plan must not be taken for the same number
    with pytest.raises(advance_step.ArgumentError):
        call(*arrays, number, *sizes[1:])


@pytest.mark.parametrize("spoil, text", (
    (lambda t: t[0].to(torch.float32), "inputTokens has dtype"),
    (lambda t: t[0].to(torch.bfloat16), "inputTokens has dtype"),
    (lambda t: torch.empty(12, dtype=torch.int64, device="meta"), "is on device meta"),
    (lambda t: t[0].to_sparse(), "layout"),
    (lambda t: torch.quantize_per_tensor(torch.ones(12), 1, 0, torch.qint8), "has dtype"),
))
def test_tensors_that_are_refused(spoil, text):
    state, *sizes = batch(8, num_seqs=12, num_queries=9, block_size=4, columns=6)
    tensors = as_torch(state)
    with pytest.raises(advance_step.ArgumentError, match=text):
        advance_step.advance_step(spoil(tensors), *tensors[1:], *sizes)
    expect_state(tensors[1:], state, NAMES[1:])


def test_data_error_names_the_query_and_is_raised_once():
    state, *sizes = batch(9, num_seqs=12, num_queries=9, block_size=4, columns=6)
    state["seq_lens"][4] = 24
    arrays = as_numpy(state)
    with pytest.raises(advance_step.DataError, match="query 4: position 24") as caught:
        advance_step.advance_step(*arrays, *sizes)
    assert caught.value.code == 507035
    assert "507035 ACL_ERROR_RT_VECTOR_CORE_EXCEPTION" in str(caught.value)
    expect_state(arrays, state)
    arrays[3][4] = state["seq_lens"][4] = 23
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))


def test_threads():
    """Each thread has batches of its own, every third of them bad, and a table that all share. A
    failure must reach the thread whose batch it is."""
    _, *sizes = batch(10, num_seqs=20, num_queries=15, block_size=4, columns=30)
    table = np.arange(600).reshape(20, 30)
    faults = []

    def work(seed):
        try:
            for turn in range(150):
                state, *_ = batch(seed * 1000 + turn, *sizes, 30)
                state["block_tables"] = table.tolist()
                bad = turn % 3 == 0
                if bad:
                    state["seq_lens"][seed] = 120
                arrays = [*as_numpy(state)[:5], table]
                if bad:
                    with pytest.raises(advance_step.DataError, match=f"query {seed}: position 120"):
                        advance_step.advance_step(*arrays, *sizes)
                    wanted = state
                else:
                    advance_step.advance_step(*arrays, *sizes)
                    wanted = reference.advance(state, *sizes)
                expect_state(arrays, wanted)
        except BaseException as fault:  # noqa: BLE001 - told by the main thread
            faults.append(fault)
            raise

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
