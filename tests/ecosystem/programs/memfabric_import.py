# SPDX-License-Identifier: Apache-2.0
"""Imports memfabric_hybrid beside torch_npu."""

import torch
import torch_npu  # noqa: F401

torch.npu.set_device(0)
import memfabric_hybrid  # noqa: E402

print(memfabric_hybrid.__name__)
