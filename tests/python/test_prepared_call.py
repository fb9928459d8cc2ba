# SPDX-License-Identifier: Apache-2.0
"""Calls that are planned once."""

import threading

import advance_step
import pytest
import reference
from batches import as_numpy, as_torch, expect_state
from test_streams import ready


@pytest.mark.parametrize("make", (as_numpy, as_torch))
def test_prepared_call(make):
    state, sizes, arrays = ready(make=make)
    call = advance_step.prepare_advance_step(*arrays, *sizes)
    for _ in range(20):
        call()
        state = reference.advance(state, *sizes)
        expect_state(arrays, state)
    call(wait=False)
    advance_step.current_stream().synchronize()
    state = reference.advance(state, *sizes)
    expect_state(arrays, state)
    arrays[3][0] = state["seq_lens"][0] = 64
    with pytest.raises(advance_step.DataError, match="query 0"):
        call()
    expect_state(arrays, state)


def test_prepared_call_refuses_memory_that_moved():
    for make in (as_numpy, as_torch):
        _, sizes, arrays = ready(make=make)
        call = advance_step.prepare_advance_step(*arrays, *sizes)
        if make is as_numpy:
            arrays[0].resize(1 << 20, refcheck=False)
        else:
            arrays[0].set_(arrays[0].clone())
        with pytest.raises(RuntimeError, match="has moved"):
            call()


def test_prepared_call_of_threads():
    state, sizes, arrays = ready()
    state["block_tables"] = [[7]] * 12
    sizes[2] = 10000
    arrays = as_numpy(state)
    call = advance_step.prepare_advance_step(*arrays, *sizes)
    threads = [threading.Thread(target=lambda: [call() for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert arrays[3].tolist() == [value + 800 if row < 9 else value
                                  for row, value in enumerate(state["seq_lens"])]
