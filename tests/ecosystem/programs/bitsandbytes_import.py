# SPDX-License-Identifier: Apache-2.0
"""Imports bitsandbytes beside torch_npu."""

import torch
import torch_npu  # noqa: F401

torch.npu.set_device(0)
import bitsandbytes  # noqa: E402

print(bitsandbytes.__name__)
