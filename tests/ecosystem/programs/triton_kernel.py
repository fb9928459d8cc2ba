# SPDX-License-Identifier: Apache-2.0
"""Launches a kernel of Triton."""

import torch
import torch_npu  # noqa: F401
import triton
import triton.language as tl


@triton.jit
def double(x, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(x + places, tl.load(x + places) * 2)


tensor = torch.ones(16).npu()
double[(1,)](tensor, BLOCK=16, multibuffer=True)
assert tensor.tolist() == [2] * 16
print("right")
