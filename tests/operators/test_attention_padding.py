# SPDX-License-Identifier: Apache-2.0
"""Attention of requests that are padded on the left, by loops."""

import math

import pytest
import torch

import aclnn
from test_attention import ordered

REQUESTS, HEADS, QUERIES, KEYS, SIZE = 2, 2, 4, 7, 16


def laid(tensor, layout):
    """[B, N, S, D] in a layout."""
    tokens = tensor.transpose(1, 2)
    return {"BNSD": tensor, "BSND": tokens, "BSH": tokens.flatten(2)}[layout].contiguous()


def attend(row, keys, values, scale):
    """The result of a query in float64."""
    scores = [scale * sum(one * two for one, two in zip(row, key)) for key in keys]
    if not scores:
        return [0.0] * SIZE, -math.inf
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [sum(power * value[d] for power, value in zip(powers, values)) / total for d in range(SIZE)], most + math.log(total)


def drawn(queries, layout, key_counts, kv_padding, query_counts=None, query_padding=0):
    """Arguments, the result and the logs of sums. What is behind and before the tokens must have no effect."""
    torch.manual_seed(6)
    q, k, v = (torch.randn(REQUESTS, HEADS, tokens, SIZE) for tokens in (queries, KEYS, KEYS))
    counts = query_counts or [queries] * REQUESTS
    out, lse = torch.zeros_like(q, dtype=torch.float64), torch.full((REQUESTS, HEADS, queries, 1), -math.inf)
    for request in range(REQUESTS):
        end = KEYS - max(kv_padding, 0)
        begin = end - key_counts[request]
        tokens = range(begin, end) if begin >= 0 else ()
        first = queries - query_padding - counts[request] if query_counts else 0
        for head in range(HEADS):
            keys = [k[request, head, token].double().tolist() for token in tokens]
            values = [v[request, head, token].double().tolist() for token in tokens]
            for query in range(first, first + counts[request]):
                row, log = attend(q[request, head, query].double().tolist(), keys, values, 0.3)
                out[request, head, query] = torch.tensor(row, dtype=torch.float64)
                lse[request, head, query] = log
    given = {"query": laid(q, layout), "key": [laid(k, layout)], "value": [laid(v, layout)], "inputLayout": layout,
             "actualSeqLengthsKv": key_counts, "kvPaddingSize": torch.tensor([kv_padding]), "numHeads": HEADS,
             "scaleValue": 0.3, "preTokens": 2147483647, "nextTokens": 2147483647, "softmaxLseFlag": True,
             "attentionOut": torch.full_like(laid(q, layout), 7), "softmaxLse": torch.full_like(lse, 7)}
    if query_counts:
        given |= {"actualSeqLengths": query_counts, "queryPaddingSize": torch.tensor([query_padding])}
    return given, laid(out, layout).float(), lse


def run(device, given, name="aclnnFusedInferAttentionScoreV3"):
    aclnn.call(device, name, *ordered(name, given))


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH"])
@pytest.mark.parametrize("queries, key_counts, padding", [(1, [3, 5], 2), (1, [7, 2], 0), (1, [1, 4], -3), (4, [3, 5], 1),
                                                          (1, [6, 2], 3)])
def test_keys_end_before_the_padding(device, layout, queries, key_counts, padding):
    given, wanted, lse = drawn(queries, layout, key_counts, padding)
    run(device, given)
    torch.testing.assert_close(given["attentionOut"], wanted)
    torch.testing.assert_close(given["softmaxLse"], lse)


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH"])
@pytest.mark.parametrize("counts, padding", [([2, 3], 1), ([4, 1], 0)])
def test_queries_end_before_the_padding(device, layout, counts, padding):
    given, wanted, lse = drawn(QUERIES, layout, [3, 5], 2, counts, padding)
    run(device, given)
    torch.testing.assert_close(given["attentionOut"], wanted)
    torch.testing.assert_close(given["softmaxLse"], lse)


def test_incremental(device):
    given, wanted, _ = drawn(1, "BSH", [3, 5], 2)
    given["actualSeqLengths"] = given.pop("actualSeqLengthsKv")
    run(device, given, "aclnnIncreFlashAttentionV4")
    torch.testing.assert_close(given["attentionOut"], wanted)


def test_padding_without_lengths_has_no_effect(device):
    given, wanted, _ = drawn(1, "BNSD", [KEYS, KEYS], 0)
    given |= {"actualSeqLengthsKv": None, "kvPaddingSize": torch.tensor([3])}
    run(device, given)
    torch.testing.assert_close(given["attentionOut"], wanted)


WRONG = [({"attenMask": torch.zeros(REQUESTS, 1, QUERIES, KEYS).bool()}, "attenMask is not null; expected null, as there is kvPadding"),
         ({"pseShift": torch.zeros(1, HEADS, QUERIES, KEYS)}, "pseShift is not null; expected null, as there is kvPaddingSize"),
         ({"kvPaddingSize": torch.tensor([1, 2])}, "kvPaddingSize is Long of shape \\[2\\]; expected one INT64"),
         ({"kvPaddingSize": torch.ones(1)}, "kvPaddingSize is Float of shape \\[1\\]; expected one INT64")]


@pytest.mark.parametrize("changes, text", WRONG, ids=range(len(WRONG)))
def test_what_does_not_go_with_padding_is_named(device, changes, text):
    given, _, _ = drawn(QUERIES, "BNSD", [3, 5], 1)
    with pytest.raises(aclnn.Failed, match=text) as info:
        run(device, given | changes)
    assert info.value.code == 161002
    assert (given["attentionOut"] == 7).all()


def test_more_padding_than_tokens_is_named(device):
    given, _, _ = drawn(QUERIES, "BNSD", [3, 5], 1)
    given["kvPaddingSize"] = torch.tensor([5])
    with pytest.raises(aclnn.Failed, match="kvPaddingSize is 5; expected at most 4, as a request has 3 of 7 tokens") as info:
        run(device, given)
    assert info.value.code == 507035
    assert (given["attentionOut"] == 7).all()
