# SPDX-License-Identifier: Apache-2.0
"""torch.ops.atb: rotary embedding, rows of a paged cache, attention over it.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import os
import pathlib

import llm_reference as reference
import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import SCALE, TYPES, near, random

from advance_step import _host_operators

SINGLE = os.environ.get("ADVANCE_STEP_HOST_OPERATORS") in (None, "", "1")
own_program = pytest.mark.skipif(not SINGLE, reason="its programs choose the mode themselves")
native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
TABLE = torch.tensor([[2, 0, 4], [3, 1, 0]], dtype=torch.int32)
LENGTHS = (9, 4)


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).replace("torch.", ""))
def dtype(request):
    return request.param


@pytest.mark.parametrize("neox", (True, False))
@pytest.mark.parametrize("turned", (8, 4))
def test_rotary_embedding(dtype, neox, turned):
    positions = torch.tensor([5, 0, 3])
    query, key = random(3, 4 * 8, dtype=dtype), random(3, 2, 8, seed=1, dtype=dtype)
    cache = random(6, turned, seed=2, dtype=dtype)
    wanted = []
    for tensor in (query, key):
        heads = tensor.float().numpy().reshape(3, -1, 8).astype(np.float64)
        for row, position in enumerate(positions.tolist()):
            factors, half = cache[position].float().numpy(), turned // 2
            for head in heads[row]:
                before = head.copy()
                for pair in range(half):
                    first, second = (pair, pair + half) if neox else (2 * pair, 2 * pair + 1)
                    cos, sin = factors[pair], factors[half + pair]
                    head[first] = before[first] * cos - before[second] * sin
                    head[second] = before[second] * cos + before[first] * sin
        wanted.append(heads.reshape(tensor.shape))
    query, key = query.npu(), key.npu()
    assert torch_npu._npu_rotary_embedding(positions.npu(), query, key, 8, cache.npu(), neox) is None
    near(query, wanted[0], dtype)
    near(key, wanted[1], dtype)


@pytest.mark.parametrize("slots", ([7, -1, 0, 11], [-1, -1, 3, -1], [-1] * 4))
def test_reshape_and_cache(dtype, slots):
    key, value = (random(4, 2, 8, seed=s, dtype=dtype) for s in (0, 1))
    caches = [random(3, 4, 2, 8, seed=s, dtype=dtype) for s in (2, 3)]
    npu = [cache.npu() for cache in caches]
    one = caches[0].npu()
    torch_npu._npu_reshape_and_cache(key.npu(), value.npu(), *npu, torch.tensor(slots, dtype=torch.int32).npu())
    torch_npu._npu_reshape_and_cache_siso(key.npu(), one, torch.tensor(slots, dtype=torch.int32).npu())
    for rows, cache in zip((key, value), caches):
        for row, slot in zip(rows, slots):
            if slot >= 0:
                cache[slot // 4, slot % 4] = row
    assert all(torch.equal(found.cpu(), wanted) for found, wanted in zip(npu, caches))
    assert torch.equal(one.cpu(), caches[0])


def paged():
    """Returns the query, the caches, and the keys and values of each request."""
    tokens = [[random(length, 2, 8, seed=10 * kind + row) for row, length in enumerate(LENGTHS)]
              for kind in (1, 2)]
    caches = [torch.tensor(reference.blocks_of([part.numpy() for part in parts], 4, TABLE.tolist(), 6))
              .nan_to_num(0).float() for parts in tokens]
    return random(2, 4, 8), caches, tokens


def attended(query, tokens, lengths=LENGTHS):
    return np.concatenate([
        reference.attend(query[row:row + 1], tokens[0][row][:length], tokens[1][row][:length], SCALE,
                         lambda *_: False)[0] for row, length in enumerate(lengths)])


def test_paged_attention(dtype):
    query, caches, tokens = paged()
    query, caches = query.to(dtype), [cache.to(dtype).npu() for cache in caches]
    tokens = [[part.to(dtype).float() for part in parts] for parts in tokens]
    out = torch.empty(2, 4, 8, dtype=dtype, device="npu")
    given = (query.npu(), *caches, 2, 4, SCALE, TABLE.npu(), torch.tensor(LENGTHS, dtype=torch.int32), out)
    workspace = torch_npu._npu_paged_attention_get_workspace(*given)
    assert workspace.device.type == "npu"
    torch_npu._npu_paged_attention(*given, workspace=workspace)
    near(out, attended(query.float(), tokens), dtype)


@native
def test_a_graph_attends_over_lengths_and_slots_that_come_later():
    query, caches, tokens = paged()
    caches = [cache.npu() for cache in caches]
    lengths = torch.tensor([1, 1], dtype=torch.int32, device="npu")
    slots = torch.tensor([-1, -1], dtype=torch.int32, device="npu")
    q, out = query.npu(), torch.empty(2, 4, 8, device="npu")
    table, new = TABLE.npu(), torch.full((2, 2, 8), 5.0, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        torch_npu._npu_reshape_and_cache(new, new, *caches, slots)
        torch_npu._npu_paged_attention(q, *caches, 2, 4, SCALE, table, lengths, out)
    lengths.copy_(torch.tensor(LENGTHS))
    graph.replay()
    near(out, attended(query, tokens))
    slots.copy_(torch.tensor([-1, 3 * 4 + 2]))
    graph.replay()
    tokens[0][1][2] = tokens[1][1][2] = 5
    near(out, attended(query, tokens))


def test_matmul_add():
    x, weight, total = random(5, 3, dtype=torch.bfloat16), random(5, 4, seed=1, dtype=torch.bfloat16), random(3, 4)
    c = total.npu()
    torch_npu._npu_matmul_add_fp32(x.npu(), weight.npu(), c)
    near(c, total.numpy() + x.float().numpy().T @ weight.float().numpy())


def test_shapes_without_data_and_operators_that_are_missing():
    meta = torch.empty(2, 4, 8, device="meta")
    cache = torch.empty(6, 4, 2, 8, device="meta")
    table = torch.empty(2, 3, dtype=torch.int32, device="meta")
    assert torch.ops.atb._npu_paged_attention(meta, cache, cache, 2, 4, 1.0, table, table[:, 0], meta) is None
    x = torch.ones(2, 4, device="npu")
    with pytest.raises(NotImplementedError, match=r'^atb::_npu_quantize_per_tensor is not there.*'
                       r'operator\("atb::_npu_quantize_per_tensor"\)$'):
        torch_npu._npu_quantize_per_tensor(x, x, x, x)


X, C = torch.ones(3, 2, 8), torch.zeros(3, 4, 2, 8)
S = torch.tensor([0, 1, 2], dtype=torch.int32)


@pytest.mark.parametrize("call, text", (
    (lambda: torch_npu._npu_reshape_and_cache(X.npu(), X[:2].npu(), C.npu(), C.npu(), S.npu()), "value is"),
    (lambda: torch_npu._npu_reshape_and_cache(X.npu(), X.npu(), C.npu(), C[0].npu(), S.npu()), "value_cache is"),
    (lambda: torch_npu._npu_reshape_and_cache_siso(X.npu(), C[0].npu(), S.npu()), "key_cache is"),
    (lambda: torch_npu._npu_rotary_embedding(S.npu(), X.npu(), X.npu(), 8, C[0, 0].npu()[:, :3], True),
     "cos_sin_cache is"),
    (lambda: torch_npu._npu_rotary_embedding(S.npu(), X.npu(), X[:, :1, :7].npu(), 8, C[0, 0].npu(), True),
     "key is"),
    (lambda: torch_npu._npu_paged_attention(X.npu(), C.npu(), C.npu(), 3, 2, 1.0, TABLE.npu(), S.npu(), X.npu()),
     "num_kv_heads is 3"),
    (lambda: torch_npu._npu_paged_attention(X.npu(), C.npu(), C.npu(), 2, 2, 1.0, TABLE.npu(), S.npu(), X.npu()),
     "context_lens is"),
    (lambda: torch_npu._npu_matmul_add_fp32(X[0].npu(), X[0].npu(), X[0].npu()), "C is"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^_npu_[a-z_0-9]+: {text}"):
        call()


PLACES = f"""
import os, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import pending, torch, torch_npu
x, table = torch.ones(3, 2, 8).npu(), torch.tensor([[0, 3], [1, 2]], dtype=torch.int32).npu()
lengths = torch.tensor([5, 5], dtype=torch.int32).npu()
caches, out = [torch.zeros(3, 4, 2, 8).npu() for _ in range(2)], torch.zeros(2, 2, 8).npu()
slots = torch.tensor([1, -1, 12], dtype=torch.int32).npu()
calls = (lambda: torch_npu._npu_reshape_and_cache(x, x, *caches, slots),
         lambda: torch_npu._npu_rotary_embedding(slots, x, x.clone(), 8, caches[0][0, :, 0], True),
         lambda: torch_npu._npu_paged_attention(x[:2], *caches, 2, 2, 1.0, table, lengths, out))
torch.npu.synchronize()
def run(call):
    try:
        call()
        torch.npu.synchronize()
    except RuntimeError as error:
        print(str(error).splitlines()[0])
def end():
    print([int(tensor.abs().sum()) for tensor in (*caches, out, x - 1)], flush=True)
    os._exit(0)  # without torch_npu's own message about the stream
"""


@own_program
def test_places_that_are_not_there_are_named_and_nothing_is_written(program):
    assert program.code(PLACES + """
for call in calls:
    run(call)
end()
""").stdout.splitlines() == [
        "_npu_reshape_and_cache: slot_indices has a place that is not there; expected numbers below 12",
        "_npu_rotary_embedding: positions has a place that is not there; expected 0 to 3",
        "_npu_paged_attention: block_table has a place that is not there; expected 0 to 2", "[0, 0, 0, 0]"]


@own_program
def test_a_slot_that_is_not_there_writes_nothing_behind_pending_work(program):
    lines = program.code(PLACES + """
pending.hold(2000)  # longer than the calls take, whatever else the machine does
run(calls[0])
end()
""").stdout.splitlines()
    assert len(lines) == 2 and lines[1] == "[0, 0, 0, 0]"
