# SPDX-License-Identifier: Apache-2.0
"""Latent attention: rotary embedding, cache, attention with a rope part, partial results.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import llm_reference as reference
import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import SCALE, TYPES, Case, near, random

LATENT, ROPE = 16, 8


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).replace("torch.", ""))
def dtype(request):
    return request.param


def turned(x, cos, sin):
    """Neighbours of x become halves, which are turned then."""
    x = np.asarray(x, np.float64)
    order = [*range(0, x.shape[-1], 2), *range(1, x.shape[-1], 2)]
    return reference.rotary(x[..., order], cos, sin, "half")


def test_interleave_rope(dtype):
    x, cos, sin = random(3, 2, 1, 8, dtype=dtype), *(random(3, 1, 1, 8, seed=s, dtype=dtype) for s in (1, 2))
    near(torch_npu.npu_interleave_rope(x.npu(), cos.npu(), sin.npu()), turned(x.float(), cos.float(), sin.float()),
         dtype)


@pytest.mark.parametrize("mode", ("PA", "PA_NZ"))
def test_kv_rmsnorm_rope_cache(mode):
    kv, gamma = random(3, 1, 1, LATENT + ROPE), random(LATENT, seed=1)
    cos, sin = (random(3, 1, 1, ROPE, seed=s) for s in (2, 3))
    slots = [5, -1, 0]
    caches = [random(2, 4, 1, size, seed=4) for size in (ROPE, LATENT)]
    npu = [cache.npu() for cache in caches]
    found = torch_npu.npu_kv_rmsnorm_rope_cache(kv.npu(), gamma.npu(), cos.npu(), sin.npu(),
                                                torch.tensor(slots).npu(), *npu, epsilon=1e-6, cache_mode=mode,
                                                is_output_kv=True)
    rows = (turned(kv[..., LATENT:], cos, sin), reference.rms_norm(kv[..., :LATENT], gamma, 1e-6)[0])
    for cache, new, place, part in zip(caches, rows, found, found[2:]):
        near(part, new)
        wanted = cache.double().numpy().copy()
        for row, slot in zip(new.reshape(3, -1), slots):
            block, token = divmod(slot, 4)
            for column, value in enumerate(row if slot >= 0 else ()):
                if mode == "PA":
                    wanted[block, token, 0, column] = value
                else:  # tiles of 8 columns, and in each the tokens of the block
                    wanted[block].reshape(-1)[(column // 8 * 4 + token) * 8 + column % 8] = value
        near(place, wanted)
    assert all(one.data_ptr() == other.data_ptr() for one, other in zip(npu, found))


@pytest.mark.parametrize("update_type", (0, 1))
def test_attention_update(update_type):
    query, key, value = random(3, 1, 8), random(9, 1, 8, seed=1), random(9, 1, 8, seed=2)
    parts = [reference.attend(query, key[a:b], value[a:b], SCALE, lambda head, row, column: (row, a) == (1, 0))
             for a, b in ((0, 4), (4, 9))]
    whole, lse = reference.attend(query, key, value, SCALE, lambda head, row, column: row == 1 and column < 4)
    out, logs = torch_npu.npu_attention_update(
        [torch.tensor(p[1][:, 0]).float().npu() for p in parts],
        [torch.tensor(p[0][:, 0]).float().npu() for p in parts], update_type)
    near(out, whole[:, 0])
    if update_type:
        near(logs, lse[:, 0])


V2 = torch_npu.npu_fused_infer_attention_score_v2


@pytest.mark.parametrize("layout", ("BSND", "BNSD", "TND"))
def test_attention_with_a_rope_part(layout):
    """The scores are those of heads that have both parts."""
    case, rest = Case(kv_heads=1), Case(kv_heads=1)
    rest.tensors = [[random(*t.shape, seed=50 + 10 * kind + row) for row, t in enumerate(part)]
                    for kind, part in enumerate(case.tensors)]
    ropes = dict(zip(("query_rope", "key_rope"), rest.in_layout(layout)))
    ends = {"actual_seq_lengths": [5, 10], "actual_seq_lengths_kv": [7, 14]} if layout == "TND" else {}
    found, _ = case.infer(layout, **ropes, **ends)
    wanted = []
    for q, k, v, q_rope, k_rope in zip(*case.tensors, *rest.tensors[:2]):
        wanted.append(reference.attend(np.concatenate((q, q_rope), -1), np.concatenate((k, k_rope), -1), v, SCALE,
                                       lambda *_: False)[0])
    near(found, reference.in_layout(wanted, layout))
    second = {{"actual_seq_lengths": "actual_seq_qlen", "actual_seq_lengths_kv": "actual_seq_kvlen"}[n]: v
              for n, v in ends.items()}
    again, _ = V2(*case.in_layout(layout), num_query_heads=4, num_key_value_heads=1, input_layout=layout,
                  softmax_scale=SCALE, **ropes, **second)
    assert torch.equal(again.cpu(), found.cpu())


def test_attention_with_a_rope_part_over_blocks():
    case, rest = Case(queries=(1, 1), keys=(9, 4), kv_heads=1), Case(queries=(1, 1), keys=(9, 4), kv_heads=1)
    rest.tensors = [[random(*t.shape, seed=50 + 10 * kind + row) for row, t in enumerate(part)]
                    for kind, part in enumerate(case.tensors)]
    table = [[2, 0, 4], [3, 1, 0]]
    caches = [torch.tensor(reference.blocks_of([t.numpy() for t in part], 16 // 4, table, 6)).float().nan_to_num(0)
              for part in (*case.tensors[1:], rest.tensors[1])]
    query, rope = (c.in_layout("TND", [[t.numpy() for t in c.tensors[0]]])[0] for c in (case, rest))
    found, _ = torch_npu.npu_fused_infer_attention_score(
        query, *(c.flatten(2).npu() for c in caches[:2]), query_rope=rope, key_rope=caches[2].flatten(2).npu(),
        num_heads=4, num_key_value_heads=1, input_layout="TND", scale=SCALE, block_size=4,
        block_table=torch.tensor(table, dtype=torch.int32).npu(), actual_seq_lengths=[1, 2],
        actual_seq_lengths_kv=[9, 4])
    wanted = [reference.attend(np.concatenate((q, qr), -1), np.concatenate((k, kr), -1), v, SCALE,
                               lambda *_: False)[0]
              for q, k, v, qr, kr in zip(*case.tensors, *rest.tensors[:2])]
    near(found, np.concatenate(wanted))


def test_wrong_arguments_are_named():
    x = torch.ones(1, 5, 4, 8, device="npu")
    for options in ({"query_rope": x}, {"query_rope": x, "key_rope": x.half()},
                    {"query_rope": x, "key_rope": x[:, :4]}):
        # The composition of the Python form, or the aclnn function.
        with pytest.raises((ValueError, RuntimeError),
                           match="^npu_fused_infer_attention_score: key_rope is|GetWorkspaceSize: [^(]*keyRope"):
            torch_npu.npu_fused_infer_attention_score(x, x, x, num_heads=4, input_layout="BSND", **options)
    with pytest.raises(ValueError, match="^npu_interleave_rope: cos is"):
        torch_npu.npu_interleave_rope(x, x[..., :4], x)
    kv, cos = torch.ones(3, 1, 1, 24, device="npu"), torch.ones(3, 1, 1, 8, device="npu")
    gamma, cache = torch.ones(16, device="npu"), torch.ones(2, 4, 1, 16, device="npu")
    slots = torch.zeros(3, dtype=torch.long, device="npu")
    for change, text in (({"cache_mode": "NZ"}, "cache_mode is 'NZ'"), ({"index": slots[:2]}, "index is"),
                         ({"k_cache": cache}, "k_cache is"), ({"kv": kv[..., :23]}, "kv is")):
        given = {"kv": kv, "gamma": gamma, "cos": cos, "sin": cos, "index": slots, "k_cache": cache[..., :8],
                 "ckv_cache": cache, **change}
        with pytest.raises(ValueError, match=f"^npu_kv_rmsnorm_rope_cache: {text}"):
            torch_npu.npu_kv_rmsnorm_rope_cache(**given)
    with pytest.raises(ValueError, match="^npu_attention_update: update_type is 2"):
        torch_npu.npu_attention_update([gamma], [cache.view(16, 8)], 2)
