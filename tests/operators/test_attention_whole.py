# SPDX-License-Identifier: Apache-2.0
"""Attention with queries of INT8: integers written out, and what messages name."""

import numpy
import pytest
import torch

import aclnn
from test_attention import ordered

HEADS, QUERIES, KEYS, SIZE = 2, 3, 5, 16
f32 = numpy.float32


def whole(*shape):
    return torch.randint(-128, 128, shape, dtype=torch.int8)


def by_tensor():
    """Arguments of a call with scales of whole tensors."""
    torch.manual_seed(3)
    return {"query": whole(1, HEADS, QUERIES, SIZE), "key": [whole(1, HEADS, KEYS, SIZE)],
            "value": [whole(1, HEADS, KEYS, SIZE)], "deqScale1": torch.tensor([0.001]), "quantScale1": torch.tensor([127.0]),
            "deqScale2": torch.tensor([0.25]), "numHeads": HEADS, "scaleValue": 0.25, "inputLayout": "BNSD",
            "preTokens": 2147483647, "nextTokens": 2147483647,
            "attentionOut": torch.zeros(1, HEADS, QUERIES, SIZE, dtype=torch.float16)}


def by_token():
    """Arguments of a call with scales of tokens and heads."""
    values = by_tensor()
    for word in ("deqScale1", "quantScale1", "deqScale2"):
        del values[word]
    return values | {"dequantScaleQuery": torch.rand(1, HEADS, QUERIES), "queryQuantMode": 3,
                     "keyAntiquantScale": torch.tensor([0.02]), "valueAntiquantScale": torch.tensor([0.02]),
                     "queryRope": torch.randn(1, HEADS, QUERIES, 4).bfloat16(),
                     "keyRope": torch.randn(1, HEADS, KEYS, 4).bfloat16(),
                     "attentionOut": torch.zeros(1, HEADS, QUERIES, SIZE, dtype=torch.bfloat16)}


def run(device, values, name="aclnnFusedInferAttentionScoreV4"):
    aclnn.call(device, name, *ordered(name, values))
    return values["attentionOut"]


@pytest.mark.parametrize("scale, weight", [(127.0, 127), (100.5, 100), (101.5, 102), (300.0, 127), (0.4, 0)])
def test_weights_are_rounded_half_to_even(device, scale, weight):
    """Queries of 0 give each key the weight 1 before it is rounded."""
    values = by_tensor() | {"quantScale1": torch.tensor([scale])}
    values["query"].zero_()
    out = run(device, values)
    for head in range(HEADS):
        for d in range(SIZE):
            total = sum(weight * int(values["value"][0][0, head, key, d]) for key in range(KEYS))
            wanted = numpy.float16(f32(total) * f32(0.25) / f32(KEYS))
            assert out[0, head, :, d].tolist() == [float(wanted)] * QUERIES


def test_products_are_exact(device):
    """The score of a query with one key is its log of the sum."""
    values = by_tensor() | {"softmaxLseFlag": True, "softmaxLse": torch.zeros(1, HEADS, QUERIES, 1)}
    values |= {"query": torch.full((1, HEADS, QUERIES, 2048), 127, dtype=torch.int8), "scaleValue": 1.0,
               "key": [torch.full((1, HEADS, 1, 2048), 127, dtype=torch.int8)], "value": [whole(1, HEADS, 1, SIZE)],
               "deqScale1": torch.tensor([1.0])}
    values["query"][..., 0] = 126
    run(device, values)
    assert values["softmaxLse"].flatten().tolist() == [float(f32(127 * 127 * 2047 + 126 * 127))] * HEADS * QUERIES


def test_the_result_is_rounded_with_a_scale_of_its_own(device):
    values = by_tensor() | {"quantScale2": torch.tensor([2.0]), "quantOffset2": torch.tensor([3.0]),
                            "attentionOut": torch.zeros(1, HEADS, QUERIES, SIZE, dtype=torch.int8)}
    values["query"].zero_()
    out = run(device, values)
    for head in range(HEADS):
        for d in range(SIZE):
            total = sum(127 * int(values["value"][0][0, head, key, d]) for key in range(KEYS))
            number = f32(total) * f32(0.25) / f32(KEYS) * f32(2) + f32(3)
            assert out[0, head, 0, d].item() == min(max(round(float(number)), -128), 127)


PROMPT = "aclnnPromptFlashAttentionV3"
MISUSE = [
    (by_tensor, {"quantScale1": None}, "quantScale1 is null; expected one number, as query is INT8"),
    (by_tensor, {"deqScale2": torch.ones(2)}, "deqScale2 has shape \\[2\\]; expected one number, as query is INT8"),
    (by_tensor, {"key": [torch.ones(1, HEADS, KEYS, SIZE)]}, "key has dtype Float; expected INT8, as query is INT8"),
    (by_tensor, {"value": [torch.ones(1, HEADS, KEYS, SIZE).half()]}, "value has dtype Half; expected INT8"),
    (by_tensor, {"attentionOut": torch.ones(1, HEADS, QUERIES, SIZE)},
     "attentionOut has dtype ACL_FLOAT; expected FLOAT16, or INT8 with quantScale2, as query is INT8"),
    (by_tensor, {"keySharedPrefix": torch.ones(1, HEADS, 2, SIZE).char()},
     "keySharedPrefix is not null; expected null, as query is INT8 with scales of whole tensors"),
    (by_tensor, {"learnableSink": torch.ones(HEADS)}, "learnableSink is not null; expected null, as query is INT8"),
    (by_tensor, {"inputLayout": "TND"}, "inputLayout is TND; expected requests with a dim of their own"),
    (by_tensor, {"query": whole(1, HEADS, 1, SIZE)}, "query has shape \\[1, 2, 1, 16\\]; expected several tokens of a request"),
    (by_tensor, {"query": torch.ones(1, HEADS, QUERIES, SIZE, dtype=torch.int32)},
     "query has dtype Int; expected FLOAT16, BF16 or FLOAT, or INT8"),
    (by_tensor, {"query": torch.ones(1, HEADS, QUERIES, SIZE)}, "deqScale1 is not null; expected null, as query has floats"),
    (by_token, {"query": torch.ones(1, HEADS, QUERIES, SIZE)},
     "dequantScaleQuery is not null; expected null, as query has floats"),
    (by_token, {"dequantScaleQuery": torch.ones(1, HEADS, 2)},
     "dequantScaleQuery has shape \\[1, 2, 2, 1\\]; expected \\[1, 2, 3, 1\\]"),
    (by_token, {"dequantScaleQuery": torch.ones(1, HEADS, QUERIES).half()}, "dequantScaleQuery has dtype Half; expected FLOAT"),
    (by_token, {"queryQuantMode": 1}, "queryQuantMode is 1; expected 3 to 3"),
    (by_token, {"keyAntiquantScale": torch.ones(HEADS), "valueAntiquantScale": torch.ones(HEADS)},
     "keyAntiquantScale has shape \\[2\\]; expected one number, as query is INT8 with dequantScaleQuery"),
    (by_token, {"keyAntiquantMode": 1}, "keyAntiquantMode is 1; expected 0 to 0"),
    (by_token, {"queryRope": None, "keyRope": None}, "queryRope is null; expected a tensor, as query is INT8"),
    (by_token, {"quantScale1": torch.ones(1)}, "quantScale1 is not null; expected null, as query is INT8 with dequant"),
    (by_token, {"attentionOut": torch.ones(1, HEADS, QUERIES, SIZE).half()},
     "attentionOut has dtype ACL_FLOAT16; expected BF16, as query is INT8"),
]


@pytest.mark.parametrize("made, changes, text", MISUSE, ids=range(len(MISUSE)))
def test_what_does_not_go_with_queries_of_int8_is_named(device, made, changes, text):
    values = made() | changes
    before = values["attentionOut"].clone()
    with pytest.raises(aclnn.Failed, match="aclnnFusedInferAttentionScoreV4GetWorkspaceSize: " + text) as info:
        run(device, values)
    assert info.value.code == 161002
    assert torch.equal(values["attentionOut"], before)


def test_one_query_after_another_takes_no_int8(device):
    values = by_tensor() | {"query": whole(1, HEADS, 1, SIZE)}
    with pytest.raises(aclnn.Failed, match="query has dtype Char; expected FLOAT16, BF16 or FLOAT, as CANN takes no"):
        run(device, values, "aclnnIncreFlashAttentionV4")


def test_a_prompt_of_one_token(device):
    """PromptFlashAttention takes it; its keys are no list."""
    values = by_tensor()
    values |= {"query": torch.zeros(1, HEADS, 1, SIZE, dtype=torch.int8), "key": values["key"][0], "value": values["value"][0],
               "attentionOut": torch.zeros(1, HEADS, 1, SIZE, dtype=torch.float16)}
    out = run(device, values, PROMPT)
    wanted = (values["value"].float().sum(2) * 127 * 0.25 / KEYS).half()
    assert torch.equal(out[0, :, 0], wanted[0])
