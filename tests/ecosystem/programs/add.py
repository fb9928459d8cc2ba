# SPDX-License-Identifier: Apache-2.0
"""Adds on the device."""

import torch
import torch_npu  # noqa: F401

print((torch.ones(2).npu() + 1).tolist())
