# SPDX-License-Identifier: Apache-2.0
"""Few rows times a large matrix of float16 or bfloat16, which is read where it lies."""

import pytest
import torch

import aclnn


def rows(matrix):
    return matrix


def columns(matrix):
    return matrix.t().contiguous().t()


def part_of_rows(matrix):
    whole = torch.full((matrix.size(0) + 1, matrix.size(1) + 3), float("nan"), dtype=matrix.dtype)
    whole[1:, 2:-1] = matrix
    return whole[1:, 2:-1]


def every_second(matrix):
    whole = torch.full((matrix.size(0), 2 * matrix.size(1)), float("nan"), dtype=matrix.dtype)
    whole[:, ::2] = matrix
    return whole[:, ::2]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("inner", [192, 272, 301])
@pytest.mark.parametrize("layout", [rows, columns, part_of_rows, every_second])
def test_products_are_exact(device, dtype, inner, layout):
    """Small whole numbers, whose sums are exact in float32 and rounded once."""
    torch.manual_seed(inner)
    other = torch.randint(-3, 4, (inner, 527))
    for count in (1, 2, 5, 8, 9, 16, 17):
        self = torch.randint(-3, 4, (count, inner))
        out = torch.full((count, 527), float("nan"), dtype=dtype)
        aclnn.call(device, "aclnnMm", self.to(dtype), layout(other.to(dtype)), out, 0)
        assert torch.equal(out, (self @ other).to(dtype)), count


def test_numbers_that_are_none_stay_in_their_columns(device):
    other = torch.ones(272, 512, dtype=torch.float16)
    other[7, 300], other[270, 511] = float("nan"), float("inf")
    out = torch.zeros(2, 512, dtype=torch.float16)
    aclnn.call(device, "aclnnMm", torch.ones(2, 272, dtype=torch.float16), other, out, 0)
    assert out[:, 300].isnan().all() and out[:, 511].isinf().all()
    assert (torch.cat([out[:, :300], out[:, 301:511]], 1) == 272).all()


def test_groups_of_few_rows(device):
    """Each group of rows has a large weight of its own, as experts have in a step of decoding."""
    torch.manual_seed(4)
    weight = torch.randint(-3, 4, (3, 272, 256))
    x = torch.randint(-3, 4, (6, 272))
    out = torch.zeros(6, 256, dtype=torch.bfloat16)
    aclnn.call(device, "aclnnGroupedMatmulV4", [x.bfloat16()], [weight.bfloat16()], *[None] * 6,
               torch.tensor([1, 1, 6]), None, None, None, 3, 0, 0, 0, [out], None, None)
    wanted = torch.cat([x[:1] @ weight[0], x[1:] @ weight[2]])
    assert torch.equal(out, wanted.bfloat16())
