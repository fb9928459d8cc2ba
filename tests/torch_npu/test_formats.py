# SPDX-License-Identifier: Apache-2.0
"""The formats of tensors: names that casts give, with the shape and the values of ND."""

import contextlib
import copy

import pytest
import torch
import torch_npu

ND, NZ = 2, 29


@contextlib.contextmanager
def internal_formats(allowed):
    torch.npu.config.allow_internal_format = allowed
    try:
        yield
    finally:
        torch.npu.config.allow_internal_format = False


def format_of(tensor):
    return int(torch_npu.get_npu_format(tensor))


@pytest.fixture
def weight():
    return torch.arange(12., device="npu").reshape(3, 4)


def test_a_cast_keeps_the_format_and_the_values(weight):
    with internal_formats(True):
        cast = torch_npu.npu_format_cast(weight, NZ)
        assert [format_of(tensor) for tensor in (cast, copy.deepcopy(cast), cast.t(), cast[1:])] == [NZ] * 4
        assert torch_npu.npu_format_cast(cast, NZ).data_ptr() == cast.data_ptr()
        assert format_of(torch_npu.npu_format_cast(weight, cast)) == NZ
        back = torch_npu.npu_format_cast(cast, ND)
    assert format_of(weight) == format_of(back) == format_of(cast + 1) == ND
    for tensor in (cast, back, copy.deepcopy(cast)):
        assert torch.equal(tensor.cpu(), weight.cpu())
    cast.zero_()
    assert weight.sum().item() == back.sum().item() == 66


def test_a_cast_in_place(weight):
    with internal_formats(True):
        assert torch_npu.npu_format_cast_(weight, NZ) is weight
        assert format_of(weight) == NZ and weight.sum().item() == 66


def test_a_format_that_is_not_allowed_is_not_taken(weight):
    with internal_formats(False):
        assert format_of(torch_npu.npu_format_cast(weight, NZ)) == ND
        assert format_of(torch_npu.npu_format_cast_(weight, NZ)) == ND


def test_formats_of_ordinary_tensors():
    image = torch.ones(2, 3, 4, 4, device="npu")
    assert format_of(image) == 0 and format_of(image[None]) == 0
    assert format_of(torch_npu.npu_format_cast(image, ND)) == ND
    conv = torch.nn.functional
    assert format_of(conv.conv2d(image, torch.ones(1, 3, 2, 2, device="npu"))) == 0
    assert format_of(conv.conv3d(torch.ones(1, 1, 3, 3, 3, device="npu"),
                                 torch.ones(1, 1, 2, 2, 2, device="npu"))) == 30


def test_formats_end_with_their_storages():
    with internal_formats(True):
        for _ in range(3000):
            assert format_of(torch_npu.npu_format_cast(torch.ones(2, device="npu"), NZ)) == NZ
    assert [format_of(torch.ones(2, device="npu")) for _ in range(100)] == [ND] * 100
