# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/paged_kv_cache.md show what the library does."""

import importlib.util

import advance_step
import numpy as np
import pytest
from conftest import ROOT

SPEC = importlib.util.spec_from_file_location("pictures", ROOT / "docs/images/draw_kv_cache.py")
pictures = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pictures)


def test_decode_step():
    state = {name: np.array(values) for name, values in pictures.BEFORE.items()}
    advance_step.advance_step(
        state["inputTokens"], np.array(pictures.SAMPLED).reshape(-1, 1), state["inputPositions"],
        state["seqLens"], state["slotMapping"], np.array(pictures.TABLES), num_seqs=3,
        num_queries=2, block_size=pictures.BLOCK_SIZE)
    assert {name: values.tolist() for name, values in state.items()} == pictures.AFTER


def arrays_of(state):
    """The 22 arrays of Step: column 0 belongs to the host, and each slot has 4 tokens of prompt."""
    tables, cached, stopped, free, preempted = state
    slots = range(len(tables))
    ints = {
        "seq_lens_this_time": [int(slot not in stopped) for slot in slots],
        "ori_seq_lens_encoder": [4 for _ in slots],
        "seq_lens_encoder": [0 for _ in slots],
        "seq_lens_decoder": cached,
        "block_tables": tables,
        "encoder_block_lens": [1 for _ in slots],
        "step_block_list": (preempted + [-1] * 3)[:3],
        "step_lens": [len(preempted)],
        "recover_block_list": [-1] * 3, "recover_lens": [0],
        "need_block_list": [-1] * 3, "need_block_len": [0],
        "used_list_len": [sum(block >= 0 for block in row) - 1 for row in tables],
        "free_list": (free + [-1] * 8)[:8],
        "free_list_len": [len(free)],
    }
    longs = {
        "input_ids": [[1] * 16 for _ in slots], "pre_ids": [[1] * 17 for _ in slots],
        "step_idx": [tokens + 1 - 4 for tokens in cached],
        "next_tokens": [9 for _ in slots], "first_token_ids": [1 for _ in slots],
    }
    arrays = {name: np.array(values, dtype=np.int32) for name, values in ints.items()}
    arrays.update({name: np.array(values, dtype=np.int64) for name, values in longs.items()})
    arrays["stop_flags"] = np.array([slot in stopped for slot in slots])
    arrays["is_block_step"] = np.array([slot in preempted for slot in slots])
    return arrays


def shown(arrays):
    free = arrays["free_list"][:arrays["free_list_len"][0]].tolist()
    preempted = arrays["step_block_list"][:arrays["step_lens"][0]].tolist()
    return (arrays["block_tables"].tolist(), arrays["seq_lens_decoder"].tolist(),
            np.nonzero(arrays["stop_flags"])[0].tolist(), free, preempted)


@pytest.mark.parametrize("before, after", (pictures.HAND_OUT, pictures.PREEMPT))
def test_step(before, after):
    arrays = arrays_of(before)
    advance_step.step(arrays, pictures.BLOCK_SIZE)
    assert shown(arrays) == after


def test_recovery():
    arrays = arrays_of(pictures.PREEMPT[0])
    advance_step.step(arrays, pictures.BLOCK_SIZE)
    # Another step of the others, after which B has finished.
    arrays["seq_lens_decoder"][1:] += 1
    arrays["step_idx"][1:] += 1
    arrays["stop_flags"][1] = True
    arrays["seq_lens_this_time"][1] = 0
    assert shown(arrays) == pictures.RECOVER[0]
    advance_step.step(arrays, pictures.BLOCK_SIZE)
    assert shown(arrays) == pictures.RECOVER[1]
    assert arrays["seq_lens_this_time"][0] == 13
