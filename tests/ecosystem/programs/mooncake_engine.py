# SPDX-License-Identifier: Apache-2.0
"""Starts an engine of Mooncake and registers memory."""

import torch
import torch_npu  # noqa: F401
from mooncake.engine import TransferEngine

torch.npu.set_device(0)
engine = TransferEngine()
assert engine.initialize("127.0.0.1:17651", "P2PHANDSHAKE", "ascend", "") == 0
tensor = torch.zeros(1 << 20, dtype=torch.uint8).npu()
torch.npu.synchronize()
assert engine.register_memory(tensor.data_ptr(), 1 << 20) == 0
assert engine.unregister_memory(tensor.data_ptr()) == 0
print("right")
