# SPDX-License-Identifier: Apache-2.0
"""Attention over chosen tokens, loads of a paged cache, and the inputs of draft models.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import SCALE, near, random
from llm_custom import ops

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
TABLE = torch.tensor([[2, 0, 4], [3, 1, 0]], dtype=torch.int32)
BLOCK, LATENT, ROPE, HEADS = 4, 8, 4, 3
LENGTHS, QUERIES = (9, 6), (2, 3)
CHOSEN = torch.tensor([[0, 7, 3, 8], [8, 2, -1, 1], [5, 3, 0, -1], [4, 1, -1, -1], [-1, -1, -1, -1]],
                      dtype=torch.int32).unsqueeze(1)


class Sparse:
    """Two requests in a paged cache, and what a plain loop expects."""

    def __init__(self, mode=3, shared=True):
        self.mode, self.shared = mode, shared
        self.query, self.query_rope = random(5, HEADS, LATENT), random(5, HEADS, ROPE, seed=1)
        self.cache, self.rope = random(5, BLOCK, 1, LATENT, seed=2), random(5, BLOCK, 1, ROPE, seed=3)

    def call(self, chosen=CHOSEN, **options):
        self.inputs = {"block_table": TABLE.npu(),
                       "actual_seq_lengths_kv": torch.tensor(LENGTHS, dtype=torch.int32).npu(),
                       "actual_seq_lengths_query": torch.tensor(QUERIES, dtype=torch.int32).cumsum(0).npu(),
                       "query_rope": self.query_rope.npu(), "key_rope": self.rope.npu(),
                       "layout_query": "TND", "layout_kv": "PA_BSND", "sparse_mode": self.mode, **options}
        cache = self.cache.npu()
        value = cache if self.shared else cache.clone()
        return ops.npu_sparse_flash_attention(self.query.npu(), cache, value, chosen.npu(), SCALE, **self.inputs)

    def expected(self):
        out, lse = np.zeros((5, HEADS, LATENT)), np.full((5, HEADS), -np.inf)
        token = 0
        for request, (length, count) in enumerate(zip(LENGTHS, QUERIES)):
            for row in range(count):
                last = length - count + row if self.mode == 3 else length - 1
                places = [divmod(int(at), BLOCK) for at in CHOSEN[token, 0] if 0 <= at <= last]
                keys = [np.concatenate([cache[TABLE[request, block], within, 0].double().numpy()
                                        for cache in (self.cache, self.rope)]) for block, within in places]
                for head in range(HEADS if keys else 0):
                    query = np.concatenate([part[token, head].double().numpy()
                                            for part in (self.query, self.query_rope)])
                    scores = np.stack(keys) @ query * SCALE
                    powers = np.exp(scores)
                    out[token, head] = powers @ np.stack(keys)[:, :LATENT] / powers.sum()
                    lse[token, head] = np.log(powers.sum())
                token += 1
        return out, lse


@pytest.mark.parametrize("shared", (True, False))
@pytest.mark.parametrize("mode", (0, 3))
def test_sparse_attention_sees_the_chosen_tokens(mode, shared):
    case = Sparse(mode, shared)
    wanted, logs = case.expected()
    out, largest, total = case.call(return_softmax_lse=True)
    near(out, wanted)
    assert largest.shape == total.shape == (1, 5, HEADS)
    near((largest + total.log())[0], logs)
    out, largest, total = case.call()
    near(out, wanted)
    assert largest.shape == total.shape == (0,)


@native
def test_sparse_attention_is_captured():
    case = Sparse()
    case.call()
    graph = torch.npu.NPUGraph()
    cache, query, chosen = case.cache.npu(), torch.zeros_like(case.query).npu(), CHOSEN.npu()
    with torch.npu.graph(graph):
        out, _, _ = ops.npu_sparse_flash_attention(query, cache, cache, chosen, SCALE, **case.inputs)
    query.copy_(case.query)
    graph.replay()
    near(out, case.expected()[0])


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_sparse_attention_of_a_cache_of_bytes(dtype):
    """A row has int8, the rotated part in the type of the query, and a factor for each half of the first."""
    case, rows = Sparse(), random(5, BLOCK, 1, LATENT, seed=2).mul(50).to(torch.int8)
    factors = random(5, BLOCK, 1, 2, seed=4).abs() / 40
    case.query, case.query_rope, case.rope = (t.to(dtype) for t in (case.query, case.query_rope, case.rope))
    packed = torch.cat((rows, case.rope.view(torch.int8), factors.view(torch.int8)), -1)
    case.cache = rows.float() * factors.repeat_interleave(LATENT // 2, -1)
    given = {"block_table": TABLE.npu(), "actual_seq_lengths_kv": torch.tensor(LENGTHS).npu(),
             "actual_seq_lengths_query": torch.tensor(QUERIES).cumsum(0).npu(), "layout_query": "TND",
             "layout_kv": "PA_BSND", "key_quant_mode": 2, "value_quant_mode": 2, "tile_size": LATENT // 2,
             "rope_head_dim": ROPE, "return_softmax_lse": True}
    query = torch.cat((case.query, case.query_rope), -1)
    attend = ops.npu_kv_quant_sparse_flash_attention
    out, largest, total = attend(query.npu(), packed.npu(), packed.npu(), CHOSEN.npu(), SCALE, **given)
    wanted, logs = case.expected()
    near(out, wanted, dtype)
    near((largest + total.log())[0], logs)
    meta = {name: t.to("meta") if torch.is_tensor(t) else t for name, t in given.items()}
    shapes = attend(query.to("meta"), packed.to("meta"), packed.to("meta"), CHOSEN.to("meta"), SCALE, **meta)
    assert [(s.shape, s.dtype) for s in shapes] == [(t.shape, t.dtype) for t in (out, largest, total)]
    for change, text in (({"tile_size": 3}, "tile_size is 3; expected a divisor of 8"), ({"rope_head_dim": 2}, "key is"),
                         ({"key_quant_mode": 1}, "key_quant_mode is 1; expected 2")):
        with pytest.raises(ValueError, match=f"^npu_kv_quant_sparse_flash_attention: {text}"):
            attend(query.npu(), packed.npu(), packed.npu(), CHOSEN.npu(), SCALE,
                   **{**given, "tile_size": 5 if "rope_head_dim" in change else LATENT // 2, **change})


def test_sparse_attention_refuses_what_it_does_not_compute():
    case = Sparse()
    for options, text in (({"layout_kv": "BSND"}, "layout_kv is 'BSND'; expected 'PA_BSND'"),
                          ({"sparse_block_size": 2}, "sparse_block_size is 2; expected 1"),
                          ({"block_table": None}, "block_table is None; expected a tensor"),
                          ({"key_rope": None}, "key_rope is None; expected both ropes, or none"),
                          ({"query_rope": random(5, HEADS, 2).npu()}, "key_rope is a float32 tensor")):
        with pytest.raises(ValueError, match=f"npu_sparse_flash_attention: {text}"):
            case.call(**options)
    with pytest.raises(NotImplementedError, match="pre_tokens is 3; this argument is not supported"):
        case.call(pre_tokens=3)


@pytest.mark.parametrize("cumsum", (False, True))
def test_a_paged_cache_is_loaded_one_request_after_another(cumsum):
    caches = [random(5, BLOCK, 2, size, seed=size) for size in (8, 4)]
    starts, counts = (1, 3), (6, 2)
    out = [torch.full((9, 2, size), 7.0).npu() for size in (8, 4)]
    given = torch.tensor([0, 6, 8] if cumsum else counts, dtype=torch.int32).npu()
    torch_npu.atb.npu_paged_cache_load(caches[0].npu(), caches[1].npu(), TABLE.npu(), given, cumsum=cumsum,
                                       seq_starts=torch.tensor(starts, dtype=torch.int32).npu(), key=out[0],
                                       value=out[1])
    for cache, loaded in zip(caches, out):
        rows = [cache[TABLE[request, at // BLOCK], at % BLOCK] for request in range(2)
                for at in range(starts[request], starts[request] + counts[request])]
        near(loaded[:8], torch.stack(rows).numpy())
        assert loaded[8].eq(0).all()
    with pytest.raises(ValueError, match="npu_paged_cache_load: value is a float32 tensor .* expected"):
        torch_npu.atb.npu_paged_cache_load(caches[0].npu(), caches[1].npu(), TABLE.npu(), given, cumsum=cumsum,
                                           key=out[0], value=out[1][:3])


@pytest.mark.parametrize("shift", (False, True))
def test_inputs_of_a_draft_model(shift):
    """Two requests of 4 and 2 tokens: the first has one token rejected."""
    tokens = torch.tensor([11, 12, 13, 14, 21, 22], dtype=torch.int32)
    positions = torch.tensor([5, 6, 7, 8, 0, 1], dtype=torch.int32)
    next_tokens, starts = torch.tensor([99, 98], dtype=torch.int32), torch.tensor([0, 4, 6], dtype=torch.int32)
    ends = torch.tensor([2, 5], dtype=torch.int32)
    total = 8 if shift else 10
    found = ops.npu_copy_and_expand_eagle_inputs(*(tensor.npu() for tensor in (tokens, positions, next_tokens, starts,
                                                                               ends)), 1, 50, 2, shift, total)
    if shift:
        wanted = ([12, 13, 99, 50, 1, 22, 98, 50], [5, 6, 7, 8, 0, 0, 1, 2], [0, 0, 0, 0, 1, 0, 0, 0],
                  [0, 0, 0, 1, 0, 0, 0, 1], [2, 3, 6, 7], [0, 1, 2, 3, 5, 6])
    else:
        wanted = ([11, 12, 13, 99, 50, 1, 21, 22, 98, 50], [5, 6, 7, 8, 9, 0, 0, 1, 2, 3],
                  [0, 0, 0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0, 0, 1], [3, 4, 8, 9], [0] * 6)
    assert [tensor.tolist() for tensor in found] == [list(numbers) for numbers in wanted]
    assert [tensor.dtype for tensor in found[2:4]] == [torch.int8] * 2
    with pytest.raises(ValueError, match="num_padding_slots_per_request is 0; expected a positive number"):
        ops.npu_copy_and_expand_eagle_inputs(*(tensor.npu() for tensor in (tokens, positions, next_tokens, starts,
                                                                           ends)), 1, 50, 0, shift, total)
