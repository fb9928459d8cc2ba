# SPDX-License-Identifier: Apache-2.0
"""Batches of products in other orders, by loops."""

import numpy
import pytest
import torch

import aclnn

f32 = numpy.float32
M, B, K, N = 3, 4, 5, 2
WORDS = ("x1", "x2", "bias", "scale", "permX1", "permX2", "permY", "cubeMathType", "batchSplitFactor", "out")
NAMES = ["aclnnTransposeBatchMatMul", "aclnnTransposeBatchMatMulWeightNz"]


def drawn(dtype=torch.float32):
    """[B, M, K] and [B, K, N] of small whole numbers, whose products are exact in each dtype."""
    torch.manual_seed(2)
    return torch.randint(-4, 5, (B, M, K)).to(dtype), torch.randint(-4, 5, (B, K, N)).to(dtype)


def element(one, other, batch, row, column):
    return sum(one[batch, row, at].item() * other[batch, at, column].item() for at in range(K))


def call(device, name, out, **given):
    values = {"cubeMathType": 0, "batchSplitFactor": 1, "out": out} | given
    aclnn.call(device, name, *[values.get(word) for word in WORDS])
    return out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("first, second, parts", [(None, None, 1), ([1, 0, 2], [0, 1, 2], 1), ([0, 1, 2], [0, 2, 1], 2),
                                                  ([1, 0, 2], None, 4)])
def test_orders(device, name, dtype, first, second, parts):
    one, other = drawn(dtype)
    x1 = one.permute(first).contiguous() if first else one
    x2 = other.permute(second).contiguous() if second else other
    out = torch.zeros((M, B, N) if parts == 1 else (parts, M, B * N // parts), dtype=dtype)
    call(device, name, out, x1=x1, x2=x2, permX1=first, permX2=second, permY=[1, 0, 2], batchSplitFactor=parts)
    for batch in range(B):
        for row in range(M):
            for column in range(N):
                part, within = divmod(batch, B // parts)
                found = out[row, batch, column] if parts == 1 else out[part, row, within * N + column]
                assert found.item() == element(one, other, batch, row, column)


def test_a_scale_makes_whole_numbers(device):
    """Its 64 bits have a float32 without the last 13 bits."""
    one, other = drawn(torch.float16)
    scales = [0.5, 0.75, 1.5, 2.0, 3.0, 4.0, 6.0, 0.25]
    packed = torch.tensor([int(numpy.array(scale, f32).view(numpy.uint32)) | 1 << 46 for scale in scales])
    out = torch.zeros(M, 1, B * N, dtype=torch.int8)
    call(device, NAMES[0], out, x1=one, x2=other, scale=packed)
    for batch in range(B):
        for row in range(M):
            for column in range(N):
                number = element(one, other, batch, row, column) * scales[batch * N + column]
                assert out[row, 0, batch * N + column].item() == min(max(round(number), -128), 127)


WRONG = [({"permX1": [2, 1, 0]}, "permX1 is \\[2, 1, 0\\]; expected \\[0, 1, 2\\] or \\[1, 0, 2\\]"),
         ({"permY": [0, 1, 2]}, "permY is \\[0, 1, 2\\]; expected \\[1, 0, 2\\]"),
         ({"batchSplitFactor": 3}, "batchSplitFactor is 3; expected a divisor of the 4 batches"),
         ({"bias": torch.ones(N)}, "bias is not null; expected null"),
         ({"scale": torch.ones(B * N).long()}, "scale is not null; expected a tensor if out is INT8, and null"),
         ({"x2": torch.ones(B, 7, N)}, "x2 has shape \\[4, 7, 2\\]; expected \\[4, 5, -1\\]"),
         ({"x1": torch.ones(M, K)}, "x1 has shape \\[3, 5\\]; expected"),
         ({"x1": torch.ones(B, M, K).int()}, "x1 has dtype Int; expected FLOAT16, BF16 or FLOAT")]


@pytest.mark.parametrize("changes, text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named(device, changes, text):
    one, other = drawn()
    out = torch.full((M, B, N), 7.0)
    with pytest.raises(aclnn.Failed, match=text) as info:
        call(device, NAMES[0], out, **({"x1": one, "x2": other} | changes))
    assert info.value.code == 161002
    assert (out == 7).all()
