# SPDX-License-Identifier: Apache-2.0
"""The checks of vLLM's block tables and slots, without vLLM."""

import types

import numpy
import pytest

from advance_step._vllm import block_checks
from advance_step._vllm.block_checks import Cache, Failure, Step

BLOCK = 4
NAMES = ["first", "second"]


def step(positions, table, tokens, names=NAMES):
    """Returns a step in which each request computes the given positions, and its right slots."""
    starts = numpy.cumsum([0, *(len(each) for each in positions)])
    flat = numpy.array([position for each in positions for position in each], dtype=numpy.int64)
    made = Step(names, starts, flat, numpy.array(table, dtype=numpy.int32), BLOCK, [numpy.array(row) for row in tokens])
    slots = [made.slots(row, numpy.array(each, dtype=numpy.int64)) for row, each in enumerate(positions)]
    return made, numpy.concatenate([*slots, [-1, -1]])


TABLE = [[1, 2], [3, 4]]
TOKENS = [[10, 11, 12, 13, 14, 15, -1, -1], [20, 21, 22, 23, 24, -1, -1, -1]]


def test_a_right_step_has_no_finding():
    made, slots = step([[4, 5], [0, 1, 2, 3, 4]], TABLE, TOKENS)
    assert slots.tolist() == [8, 9, 12, 13, 14, 15, 16, -1, -1]
    block_checks.check_slots(made, slots)
    block_checks.check_blocks(made)


def test_a_wrong_slot_is_named():
    made, slots = step([[4, 5], [0, 1]], TABLE, TOKENS)
    slots[3] += 1
    with pytest.raises(Failure) as error:
        block_checks.check_slots(made, slots)
    assert str(error.value) == (
        "advance_step.vllm: slots: request second (row 1): its token of position 1 has slot 14 in slot_mapping[3]; "
        "expected slot 13, in block 3, entry 0 of the row")


def test_a_slot_of_padding_is_named():
    made, slots = step([[4, 5], [0, 1]], TABLE, TOKENS)
    slots[5] = 0
    with pytest.raises(Failure, match=r"slot_mapping\[5\] is slot 0, behind the 4 tokens of the step; expected -1"):
        block_checks.check_slots(made, slots)


SHARED = [[1, 2], [1, 4]]
PREFIX = [TOKENS[0], [10, 11, 12, 13, 24, -1, -1, -1]]


def test_blocks_of_a_common_prefix_are_shared():
    block_checks.check_blocks(step([[4, 5], [4]], SHARED, PREFIX)[0])
    unknown = [[10, 11, 12, -1, 14, -1, -1, -1], PREFIX[1]]  # asynchronous scheduling
    block_checks.check_blocks(step([[4, 5], [4]], SHARED, unknown)[0])


@pytest.mark.parametrize("table, tokens, columns", (
    (SHARED, TOKENS, (0, 0)),  # other tokens
    ([[1, 2], [3, 2]], [PREFIX[0], PREFIX[1]], (1, 1)),  # a block that is not full
    ([[1, 2], [2, 4]], PREFIX, (1, 0)),  # at another position
))
def test_a_block_of_two_requests_is_named(table, tokens, columns):
    with pytest.raises(Failure) as error:
        block_checks.check_blocks(step([[4, 5], [4]], table, tokens)[0])
    assert (f"is entry {columns[0]} of request first (row 0) and entry {columns[1]} of request second (row 1), which "
            "share no prefix of") in str(error.value)


def test_a_block_twice_in_a_row_is_named():
    with pytest.raises(Failure, match="request second .row 1. has block 3 twice, in entries 0 and 1 of its row"):
        block_checks.check_blocks(step([[4], [4]], [[1, 2], [3, 3]], TOKENS)[0])


def run(cache, positions, table=TABLE, tokens=TOKENS):
    made, slots = step(positions, table, tokens)
    cache.write(made, slots)
    cache.check(made)


def test_a_cache_that_is_written_has_no_finding():
    cache = Cache()
    run(cache, [range(6), range(3)])
    run(cache, [[6], [3, 4]])
    run(cache, [[], [4]], SHARED, PREFIX)  # the first block is the first request's


def test_slots_that_nothing_has_written_are_named():
    cache = Cache()
    run(cache, [range(6), range(3)])
    with pytest.raises(Failure, match=r"request second \(row 1\) reads position 3 from slot 15, in block 3, entry 0 of "
                       "the row, which nothing has written"):
        run(cache, [[6], [4]])


def test_slots_of_another_request_are_named():
    cache = Cache()
    run(cache, [range(6), range(3)])
    with pytest.raises(Failure, match=r"request second \(row 1\) reads position 0 from slot 4, in block 1, entry 0 of "
                       "the row, which has token 10 of position 0; expected token 20 of its own"):
        run(cache, [[], [4]], SHARED)
    with pytest.raises(Failure, match="reads position 0 from slot 8, .* which has token 14 of position 4; expected"):
        run(cache, [[], [4]], [[1, 2], [2, 4]])


def batch_class():
    """Returns a class like vllm-ascend's, whose kernel adds `wrong` to the slots."""
    class Tables:
        def __init__(self):
            buffer = types.SimpleNamespace(np=numpy.array(TABLE, dtype=numpy.int32))
            self.table = types.SimpleNamespace(
                block_table=buffer, block_size=BLOCK, slot_mapping=types.SimpleNamespace(gpu=numpy.full(16, -1)),
                max_num_batched_tokens=8, is_mamba_group=False, pcp_world_size=1, dcp_world_size=1)
            self.block_tables, self.wrong = [self.table], 0

        def compute_slot_mapping(self, count, starts, positions):
            made = Step(NAMES[:count], starts, positions, self.table.block_table.np, BLOCK, TOKENS)
            for row, _, places, given in made.rows():
                self.table.slot_mapping.gpu[places] = made.slots(row, given) + self.wrong

    class NPUInputBatch:
        def __init__(self):
            self.block_table, self.req_ids = Tables(), NAMES
            self.token_ids_cpu, self.num_tokens_no_spec = numpy.array(TOKENS), numpy.array([6, 5])

    return types.SimpleNamespace(NPUInputBatch=NPUInputBatch)


@pytest.mark.parametrize("value, found", (("all", True), ("slots", True), ("blocks", False), ("off", False), ("", False)))
def test_the_variable_turns_checks_on(monkeypatch, value, found):
    monkeypatch.setenv("ADVANCE_STEP_VLLM_CHECKS", value)
    module = batch_class()
    block_checks.extend_batch(module)
    tables = module.NPUInputBatch().block_table
    call = (2, numpy.array([0, 6, 8]), numpy.array([0, 1, 2, 3, 4, 5, 0, 1]))
    tables.compute_slot_mapping(*call)
    tables.wrong = 1
    if found:
        with pytest.raises(Failure, match="request first .row 0.: its token of position 0 has slot 5"):
            tables.compute_slot_mapping(*call)
    else:
        tables.compute_slot_mapping(*call)


def test_a_check_that_does_not_exist_is_refused(monkeypatch, program):
    monkeypatch.setenv("ADVANCE_STEP_VLLM_CHECKS", "slots,block")
    with pytest.raises(ImportError, match="ADVANCE_STEP_VLLM_CHECKS has 'block'; expected all, off, or some of slots, "
                       "blocks, written with commas between them"):
        block_checks.chosen()
    done = program.run("-c", "pass", launcher=("-m", "advance_step.vllm"), status=1, ADVANCE_STEP_VLLM_CHECKS="x")
    assert "ADVANCE_STEP_VLLM_CHECKS has 'x'" in done.stderr
