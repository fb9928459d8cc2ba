# SPDX-License-Identifier: Apache-2.0
"""Imports memfabric_zbal beside torch_npu."""

import torch
import torch_npu  # noqa: F401

torch.npu.set_device(0)
import zbal  # noqa: E402

print(zbal.__name__)
