# SPDX-License-Identifier: Apache-2.0
"""Makes batches, turns them into arrays of each kind, and compares."""

import random

import numpy as np
import torch

NAMES = ("input_tokens", "sampled_token_ids", "input_positions", "seq_lens", "slot_mapping",
         "block_tables")
V2_NAMES = (*NAMES, "spec_token", "accepted_num")


def batch(seed, num_seqs=None, num_queries=None, block_size=None, columns=None):
    """A random legal batch for conformance standard: (state, num_seqs, num_queries, block_size)."""
    rng = random.Random(seed)
    num_seqs = num_seqs or rng.randint(2, 80)
    num_queries = num_queries or rng.randint(1, num_seqs - 1)
    block_size = block_size or rng.choice((1, 3, 8, 16, 128))
    columns = columns or rng.randint(1, 20)

    def numbers(count, most=99999):
        return [rng.randint(0, most) for _ in range(count)]

    state = {
        "input_tokens": numbers(num_seqs), "sampled_token_ids": numbers(num_queries),
        "input_positions": numbers(num_seqs),
        "seq_lens": numbers(num_seqs, columns * block_size - 1), "slot_mapping": numbers(num_seqs),
        "block_tables": [numbers(columns) for _ in range(num_seqs)]}
    return state, num_seqs, num_queries, block_size


def as_numpy(state, names=NAMES, dtypes=None):
    """The arrays of a state, in the order of names."""
    arrays = [np.array(state[name], dtype=(dtypes or {}).get(name, np.int64)) for name in names]
    if arrays[1].ndim == 1:
        arrays[1] = arrays[1].reshape(-1, 1)
    return arrays


def as_torch(state, names=NAMES, device=None):
    """The same as tensors, on the CPU or on another device."""
    tensors = [torch.from_numpy(array) for array in as_numpy(state, names)]
    return tensors if device is None else [tensor.to(device) for tensor in tensors]


def expect_state(arrays, state, names=NAMES):
    """Holds arrays of any kind against a state."""
    for array, name in zip(arrays, names):
        values = (array.cpu() if isinstance(array, torch.Tensor) else np.asarray(array)).tolist()
        wanted = state[name]
        if name == "sampled_token_ids" and not isinstance(wanted[0], list):
            wanted = [[token] for token in wanted]
        assert values == wanted, name
