# SPDX-License-Identifier: Apache-2.0
"""Imports pto_kernels beside torch_npu."""

import torch
import torch_npu  # noqa: F401

torch.npu.set_device(0)
import pto_kernels  # noqa: E402

print(pto_kernels.__name__)
