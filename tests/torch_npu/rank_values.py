# SPDX-License-Identifier: Apache-2.0
"""What each rank contributes to a collective, and plain arithmetic on it, for ranks.py and
ranks_uneven.py, and how they look at results and refusals."""

import functools

import torch
import torch.distributed as dist

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
COPIED = [*FLOATS, *INTEGERS, torch.bool, torch.complex64, torch.uint16, torch.float8_e4m3fn]


def part(rank, dtype, shape=(4, 3), salt=0):
    """Returns what a rank contributes: small whole numbers, so that sums are exact."""
    numbers = torch.arange(torch.Size(shape).numel()).reshape(shape)
    values = (numbers * 7 + rank * 5 + salt) % 11 + 1
    if dtype == torch.bool:
        return values % 2 == 0
    # A product of these is exact too.
    return (values % 3 if dtype.itemsize < 4 else values).to(torch.float32).to(dtype)


def same(mine, expected, what):
    mine = mine.cpu()
    assert mine.dtype == expected.dtype and mine.shape == expected.shape, (what, mine, expected)
    assert mine.contiguous().view(torch.uint8).equal(expected.contiguous().view(torch.uint8)) \
        if mine.dim() else mine.item() == expected.item(), (what, mine, expected)


def refused(kind, text, call):
    """The call raises an exception of that kind, whose message has the text."""
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__}: {text}")


def reductions(dtype):
    ops = {"SUM": torch.add, "PRODUCT": torch.mul, "MIN": torch.minimum, "MAX": torch.maximum}
    if dtype == torch.bool:
        ops.update(SUM=torch.logical_or, PRODUCT=torch.logical_and)
    if not dtype.is_floating_point:
        ops.update(BAND=torch.bitwise_and, BOR=torch.bitwise_or, BXOR=torch.bitwise_xor)
    return {getattr(dist.ReduceOp, name): op for name, op in ops.items()}


def reduced(op, parts):
    return functools.reduce(op, parts)
