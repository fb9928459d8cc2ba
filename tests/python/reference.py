# SPDX-License-Identifier: Apache-2.0
"""AdvanceStep and AdvanceStepV2 as plain loops, written from docs/operators. A state is a dict of
lists with the parameter names; DataFault stands for a data error, and leaves the state alone."""

import copy


class DataFault(Exception):
    """Data that the operator refuses."""


def _slot(row, position, block_size):
    column = position // block_size
    if position < 0 or column >= len(row) or row[column] < 0:
        raise DataFault
    return row[column] * block_size + position % block_size


def _standard(state, num_seqs, num_queries, block_size):
    for q in range(num_queries):
        position = state["seq_lens"][q]
        state["slot_mapping"][q] = _slot(state["block_tables"][q], position, block_size)
        state["input_tokens"][q] = state["sampled_token_ids"][q]
        state["input_positions"][q] = position
        state["seq_lens"][q] = position + 1
    for row in range(num_queries, num_seqs):
        _blank(state, row)


def _blank(state, row):
    state["input_tokens"][row] = 0
    state["input_positions"][row] = 0
    state["slot_mapping"][row] = -1


def _truncated(position, block_size):
    quotient = abs(position) // block_size * (-1 if position < 0 else 1)
    return quotient, position - quotient * block_size


def _exact(state, num_seqs, num_queries, block_size, cores):
    flat = [block for row in state["block_tables"] for block in row]
    width = len(state["block_tables"][0])
    for q in range(min(num_queries, cores)):
        position = state["seq_lens"][q]
        quotient, remainder = _truncated(position, block_size)
        if not 0 <= quotient < len(flat):
            raise DataFault
        state["input_tokens"][q] = state["sampled_token_ids"][q]
        state["input_positions"][q] = position
        state["seq_lens"][q] = position + 1
        state["slot_mapping"][q] = (flat[quotient] + width * q) * block_size + remainder
    for row in range(num_queries, num_seqs, cores):
        _blank(state, row)


def advance(state, num_seqs, num_queries, block_size, conformance="standard", cores=40):
    """The state after AdvanceStep."""
    after = copy.deepcopy(state)
    if conformance == "exact":
        _exact(after, num_seqs, num_queries, block_size, cores)
    else:
        _standard(after, num_seqs, num_queries, block_size)
    return after


def advance_v2(state, num_seqs, block_size):
    """The state after AdvanceStepV2, in 64 bits."""
    after = copy.deepcopy(state)
    width = len(state["spec_token"][0]) + 1
    for r in range(num_seqs):
        sampled = state["sampled_token_ids"][r]
        valid = next((j for j, token in enumerate(sampled) if token < 0), width)
        if valid == 0:
            raise DataFault
        for j in range(width):
            i = r * width + j
            position = state["input_positions"][i] + state["accepted_num"][r] + 1
            after["slot_mapping"][i] = _slot(state["block_tables"][r], position, block_size)
            after["input_positions"][i] = position
            after["seq_lens"][i] = position + 1
            after["input_tokens"][i] = (sampled[valid - 1] if j == 0
                                        else state["spec_token"][r][j - 1])
    return after
