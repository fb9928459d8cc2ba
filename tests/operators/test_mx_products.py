# SPDX-License-Identifier: Apache-2.0
"""Products of matrices of FLOAT8, in blocks or with scales of float32, by exact fractions."""

import fractions
import random

import pytest
import torch

import aclnn
import family_mx

M, K, N = 3, 70, 5
GROUP = 1 << 32 | 1 << 16 | 32


def drawn(dice, *shape):
    """A matrix of FLOAT8 and its values."""
    kind = dice.choice(list(family_mx.FORMATS))
    dtype, mantissa, bias, _ = family_mx.FORMATS[kind]
    top = (bias + 4) << mantissa
    low = (bias - 4) << mantissa  # so few bits apart that float64 has each sum
    numbers = torch.tensor([dice.choice([0, 0x80]) | dice.randrange(low, top) for _ in range(shape[0] * shape[1])])
    values = [fractions.Fraction(family_mx.decoded(byte & 0x7F, mantissa, bias)) * (-1 if byte & 0x80 else 1)
              for byte in numbers.tolist()]
    rows = [values[begin:begin + shape[1]] for begin in range(0, len(values), shape[1])]
    return numbers.to(torch.uint8).reshape(shape).view(dtype), rows


def turned(rows):
    return [list(column) for column in zip(*rows)]


def powers(rows, pairs):
    """A byte of E8M0 for each block along each row, as [rows, pairs, 2], and the factors of K numbers."""
    numbers = torch.randint(120, 134, (rows, pairs, 2), dtype=torch.uint8)
    factors = [[fractions.Fraction(2) ** (row[place // 32] - 127) for place in range(K)] for row in numbers.flatten(1).tolist()]
    return numbers, factors


def product(one, two, more):
    return torch.tensor([[float(sum(x * y for x, y in zip(row, column))) + more[at] for at, column in enumerate(two)]
                         for row in one], dtype=torch.float64)


@pytest.mark.parametrize("seed", range(1, 7))
def test_blocks(device, seed):
    torch.manual_seed(seed)
    dice = random.Random(seed)
    first, second = dice.random() < 0.5, dice.random() < 0.5
    x1, one = drawn(dice, *((K, M) if first else (M, K)))
    x2, two = drawn(dice, *((N, K) if second else (K, N)))
    one, two = turned(one) if first else one, two if second else turned(two)  # rows, and columns
    scales, factors = powers(M, 2)
    others, of_columns = powers(N, 2)
    one = [[x * by for x, by in zip(row, more)] for row, more in zip(one, factors)]
    two = [[x * by for x, by in zip(row, more)] for row, more in zip(two, of_columns)]
    bias = torch.randint(-9, 9, (N,)).float() if dice.random() < 0.5 else None
    out = torch.zeros(M, N, dtype=dice.choice([torch.float32, torch.float16, torch.bfloat16]))
    given = [scales.movedim(1, 0).contiguous() if first else scales, others if second else others.movedim(1, 0).contiguous()]
    aclnn.call(device, "aclnnQuantMatmulV5", x1, x2, *(one.view(torch.float8_e8m0fnu) for one in given), None, None, None, None,
               bias, first, second, GROUP, out)
    assert torch.equal(out, product(one, two, bias.tolist() if bias is not None else [0.0] * N).to(out.dtype))


@pytest.mark.parametrize("seed", range(1, 4))
def test_scales_of_float32(device, seed):
    torch.manual_seed(seed)
    dice = random.Random(seed)
    (x1, one), (x2, two) = drawn(dice, M, K), drawn(dice, K, N)
    rows, columns = torch.rand(M), torch.rand(N)
    out = torch.zeros(M, N)
    aclnn.call(device, "aclnnQuantMatmulV5", x1, x2, rows, columns, None, None, None, None, None, False, False, 0, out)
    assert torch.equal(out, product(one, turned(two), [0.0] * N).float() * columns * rows[:, None])


def refused(device, text, x1, x2, first, second, group, out):
    with pytest.raises(aclnn.Failed, match=text):
        aclnn.call(device, "aclnnQuantMatmulV5", x1, x2, first, second, None, None, None, None, None, False, True, group, out)


def test_what_is_refused(device):
    x = torch.zeros(M, K).to(torch.float8_e4m3fn)
    scale = torch.full((M, 2, 2), 127, dtype=torch.uint8).view(torch.float8_e8m0fnu)
    out = torch.zeros(M, M)

    refused(device, "groupSize is 64; expected", x, x, scale, scale, 64, out)
    refused(device, r"x1Scale has shape .3, 1, 2.; expected 2 pairs", x, x, scale[:, :1].contiguous(), scale, GROUP, out)
    refused(device, "x1Scale has shape .* expected 3 along dim 0", x, x, scale[:2].contiguous(), scale, GROUP, out)
    refused(device, "x1 has dtype Char; expected FLOAT8", x.float().char(), x, scale, scale, GROUP, out)
    refused(device, "x1Scale 0; expected 2 and 3", x, x, None, scale, GROUP, out)
    refused(device, "out has dtype ACL_INT8; expected FLOAT16", x, x, scale, scale, GROUP, out.char())
    refused(device, "x1 and x2 have dtypes", x.float().char(), x, None, torch.ones(1), 0, out)
