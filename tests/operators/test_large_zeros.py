# SPDX-License-Identifier: Apache-2.0
"""aclnnInplaceZero of large tensors, which the library clears."""

import pytest
import torch

import aclnn


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool])
def test_all_of_it_and_nothing_else(device, dtype):
    whole = torch.ones(3 << 20, dtype=dtype)
    aclnn.call(device, "aclnnInplaceZero", whole)
    assert not whole.any()
    columns = torch.ones(2048, 2048, dtype=dtype)
    aclnn.call(device, "aclnnInplaceZero", columns[:, 7:2000])
    assert columns[:, :7].all() and columns[:, 2000:].all() and not columns[:, 7:2000].any()
    transposed = torch.ones(2048, 2048, dtype=dtype)
    aclnn.call(device, "aclnnInplaceZero", transposed.t())
    assert not transposed.any()
