# SPDX-License-Identifier: Apache-2.0
"""Blocks of KV caches that are written, reordered and copied; drafts of a request's own tokens.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import random as plain_random

import numpy as np
import pytest
import torch
from llm_cases import TYPES, near, random
from llm_custom import ops
from pending import hold


@pytest.mark.parametrize("splits", (1, 2, 4))
def test_transpose_by_block(splits):
    size, heads, elements = 3, 4, 2
    caches = [random(5, size, heads, elements, seed=seed) for seed in range(4)]
    npu = [cache.npu() for cache in caches]
    ops.transpose_kv_cache_by_block(npu[:2], npu[2:], torch.tensor([4, 1]).npu(), size, heads, elements, splits, 2)
    for cache, found in zip(caches, npu):
        wanted = cache.clone()
        for block in (4, 1):
            given = cache[block].flatten().tolist()
            for token, head, element in np.ndindex(size, heads, elements):
                split, part = divmod(head, heads // splits)
                wanted[block, token, head, element] = given[
                    ((split * size + token) * (heads // splits) + part) * elements + element]
        assert torch.equal(found.cpu(), wanted)


def test_reshape_and_cache_bnsd():
    heads, size, slots = 2, 4, [5, -1, 0]
    rows = torch.randint(0, 256, (heads, 3, 8), dtype=torch.uint8)
    cache = torch.randint(0, 256, (3, heads, size, 8), dtype=torch.uint8)
    npu = cache.npu()
    found = ops.npu_reshape_and_cache_bnsd(rows.flatten(0, 1).npu(), npu, torch.tensor(slots, dtype=torch.int32).npu(),
                                           torch.tensor([3]).npu(), npu)
    for token, slot in enumerate(slots):
        for head in range(heads if slot >= 0 else 0):
            cache[slot // size, head, slot % size] = rows[head, token]
    assert torch.equal(found.cpu(), cache) and torch.equal(npu.cpu(), cache)


@pytest.mark.parametrize("dtype", (torch.int8, torch.float16))
def test_store_by_groups(dtype):
    slots = torch.tensor([7, -1, 0, 8], dtype=torch.int32)
    key, cache = random(4, 1, 6).mul(9).to(dtype), random(3, 4, 1, 6, seed=1).mul(9).to(dtype)
    npu = cache.npu()
    groups = [torch.full((6,), 77, dtype=torch.int32, device="npu") for _ in range(3)]
    ops.store_kv_block_metadata(slots.npu(), *groups, 4)
    ops.store_kv_block(key.npu(), npu, *groups, 4)
    for row, slot in zip(key, slots.tolist()):
        if slot >= 0:
            cache[slot // 4, slot % 4] = row
    assert torch.equal(npu.cpu(), cache)


def test_batch_matmul_transpose():
    for dtype in TYPES:
        a, b = random(3, 2, 8, dtype=dtype), random(2, 8, 4, seed=1, dtype=dtype)
        out = torch.empty(3, 2, 4, dtype=dtype, device="npu")
        ops.batch_matmul_transpose(a.npu(), b.npu(), out)
        near(out, np.stack([a.double().numpy()[:, each] @ b.double().numpy()[each] for each in range(2)], 1), dtype)


@pytest.mark.parametrize("pending", (0, 20))
def test_copies_by_addresses_are_in_the_order_of_the_stream(pending):
    host, back, device = random(4, 8).pin_memory(), torch.zeros(4, 8).pin_memory(), torch.zeros(6, 8, device="npu")
    torch.npu.synchronize()
    hold(pending)
    size = host[0].numel() * 4

    def copy(pairs, source, target, direction):
        ops.swap_blocks_batch(torch.tensor([source.data_ptr() + a * size for a, _ in pairs]),
                              torch.tensor([target.data_ptr() + b * size for _, b in pairs]),
                              torch.full((len(pairs),), size), direction)

    copy([(0, 5), (3, 1)], host, device, 0)
    copy([(5, 4)], device, device, 2)
    device.mul_(2)
    copy([(4, 0), (1, 2)], device, back, 1)
    torch.npu.synchronize()
    wanted = torch.zeros(4, 8)
    wanted[0], wanted[2] = host[0] * 2, host[3] * 2
    assert torch.equal(back, wanted)


def test_wrong_copies_are_refused_and_none_is_done():
    one, host, device = torch.ones(1, dtype=torch.int64), torch.ones(2), torch.zeros(2, device="npu")
    for change, text in (({"x": one.int()}, "x is torch.int32"), ({"y": one.expand(2)}, "y is"),
                         ({"direction": 3}, "direction is 3"), ({"z": -one}, "z has the size -1"),
                         ({"x": torch.zeros(1, dtype=torch.int64)}, "x has the address 0")):
        given = {"x": torch.tensor([host.data_ptr()]), "y": torch.tensor([device.data_ptr()]), "z": one * 8,
                 "direction": 0, **change}
        with pytest.raises(ValueError, match=f"^swap_blocks_batch: {text}"):
            ops.swap_blocks_batch(**given)
    assert device.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="^swap_blocks_batch: aclrtMemcpyAsync returns"):
        ops.swap_blocks_batch(torch.tensor([device.data_ptr()]), torch.tensor([device.data_ptr()]),
                              torch.tensor([1 << 50]), 2)


def drafts(tokens, length, sampled, discard, vocabulary, sizes, count):
    """Of one request: its tokens, the last of them, the drafts, and how many these are."""
    valid = 0 if discard else sum(token != -1 and token < vocabulary for token in sampled)
    valid = min(valid, max(len(tokens) - length, 0))
    new = tokens[:length] + sampled[:valid]
    last, drafted = new[-1], []
    for size in sizes if valid else ():
        places = [place for place in range(len(new) - size) if new[place:place + size] == new[-size:]]
        if size < len(new) and places:
            drafted = new[places[0] + size:][:count]
            break
    return new + tokens[len(new):], last, drafted + [-1] * (count - len(drafted)), len(drafted)


@pytest.mark.parametrize("sizes", ((1, 1), (2, 4), (3, 5)))
def test_ngram_drafts(sizes):
    generator = plain_random.Random(sum(sizes))
    for _ in range(6):
        rows = [[generator.randrange(3) for _ in range(24)] for _ in range(5)]
        lengths = [generator.randrange(1, 25) for _ in rows]
        sampled = [[generator.randrange(3) for _ in range(n)] + [-1] * (4 - n)
                   for n in (generator.randrange(5) for _ in rows)]
        sampled[0][0] = 9  # not in the vocabulary
        sampled[0][1:] = [-1] * 3
        discard = [generator.random() < 0.2 for _ in rows]
        wanted = [drafts(*each, 5, range(sizes[0], sizes[1] + 1), 3) for each in zip(rows, lengths, sampled, discard)]
        npu = [torch.tensor(given, dtype=torch.int32).npu() for given in (rows, lengths, sampled, discard)]
        found = ops.npu_ngram_spec_decode(*npu, vocab_size=5, min_n=sizes[0], max_n=sizes[1], k=3)
        assert [each.tolist() for each in found] == [list(each) for each in zip(*wanted)]
        assert found[0].data_ptr() == npu[0].data_ptr() and all(each.dtype == torch.int32 for each in found)


def test_shapes_without_data():
    found = ops.npu_ngram_spec_decode(*(torch.zeros(shape, dtype=torch.int32, device="meta")
                                        for shape in ((2, 9), (2,), (2, 3), (2,))), 5, 2, 4, 3)
    assert [tuple(each.shape) for each in found] == [(2, 9), (2,), (2, 3), (2,)]
    cache = torch.empty(3, 2, 4, 8, device="meta")
    assert ops.npu_reshape_and_cache_bnsd(torch.empty(6, 8, device="meta"), cache, torch.zeros(
        3, dtype=torch.int32, device="meta"), torch.zeros(1, device="meta"), cache).shape == cache.shape


X, CACHE, I3 = torch.ones(3, 2, 8), torch.ones(3, 4, 2, 8), torch.zeros(3, dtype=torch.int32)


@pytest.mark.parametrize("call, text", (
    (lambda: ops.transpose_kv_cache_by_block([CACHE.npu()], [CACHE.npu()], I3.npu(), 4, 2, 8, 3, 1), "splitNum is 3"),
    (lambda: ops.transpose_kv_cache_by_block([CACHE.npu()], [CACHE.npu()], I3.npu(), 4, 2, 8, 2, 2), "layerNum is 2"),
    (lambda: ops.transpose_kv_cache_by_block([CACHE.npu()], [X.npu()], I3.npu(), 4, 2, 8, 2, 1), "vCache is"),
    (lambda: ops.npu_reshape_and_cache_bnsd(X.npu(), CACHE.npu(), I3.npu(), I3.npu(), CACHE.npu()), "q is"),
    (lambda: ops.store_kv_block_metadata(I3.npu(), I3[:2].npu(), I3.npu(), I3.npu()), "group_len is"),
    (lambda: ops.store_kv_block(X.npu(), CACHE[..., :7].contiguous().npu(), I3.npu(), I3.npu(), I3.npu()), "key_in is"),
    (lambda: ops.batch_matmul_transpose(X.npu(), X.npu(), X.npu()), "tensor_b is"),
    (lambda: ops.npu_ngram_spec_decode(CACHE[0, 0].int().npu(), I3.npu(), I3.npu(), I3.npu(), 5, 1, 1, 1),
     "sampled_token_ids is"),
    (lambda: ops.npu_ngram_spec_decode(I3[:1, None].npu(), I3[:1].npu(), I3[:1, None].npu(), I3[:1].npu(), 5, 2, 1, 1),
     "min_n is 2"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^[a-z_]+: {text}"):
        call()
