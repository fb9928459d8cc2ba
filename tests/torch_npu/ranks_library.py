# SPDX-License-Identifier: Apache-2.0
"""Ranks on torch_npu's own backend, which calls libhccl (ADVANCE_STEP_HCCL=c)."""
import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

torch.npu.set_device(0)
dist.init_process_group("hccl")
rank, ranks = dist.get_rank(), dist.get_world_size()
npu = torch.device("npu")
assert type(dist.group.WORLD._get_backend(npu)).__name__ == "ProcessGroupHCCL"
assert os.environ["TASK_QUEUE_ENABLE"] == "0"

x = torch.full((4,), float(rank + 1), device=npu)
dist.all_reduce(x)
assert x.tolist() == [ranks * (ranks + 1) / 2] * 4

got = [torch.empty(1, device=npu) for _ in range(ranks)]
dist.all_gather(got, torch.full((1,), float(rank), device=npu))
assert [one.item() for one in got] == list(range(ranks))

received = torch.empty(4, device=npu)
for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, torch.full((4,), float(rank), device=npu),
                                               (rank + 1) % ranks),
                                    dist.P2POp(dist.irecv, received, (rank - 1) % ranks)]):
    work.wait()
assert received.tolist() == [float((rank - 1) % ranks)] * 4

torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8).npu())
model(torch.full((4, 8), float(rank + 1), device=npu)).sum().backward()
assert model.module.weight.grad.sum().item() == 64 * 4 * (ranks + 1) / 2

dist.destroy_process_group()
print("right", flush=True)
