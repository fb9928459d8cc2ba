# SPDX-License-Identifier: Apache-2.0
"""A process with a tensor that others move by Mooncake; test_transfer_engine.py starts it."""

import sys

import torch
import torch_npu  # noqa: F401
from mooncake.engine import TransferEngine

torch.npu.set_device(0)
engine = TransferEngine()
assert engine.initialize("127.0.0.1", "P2PHANDSHAKE", "ascend", "") == 0
tensor = torch.zeros(1024, 1024).npu()
torch.npu.synchronize()
assert engine.register_memory(tensor.data_ptr(), tensor.nbytes) == 0
print(f"127.0.0.1:{engine.get_rpc_port()} {tensor.data_ptr()}", flush=True)
for _ in sys.stdin:  # each line asks for the sum
    print(tensor.sum().item(), flush=True)
