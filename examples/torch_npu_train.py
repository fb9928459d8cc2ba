# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on two ranks with backend "hccl", and compares it with one on "cpu".

    python -m advance_step.torch_npu examples/torch_npu_train.py

Each rank is a process with emulated devices of its own. The network on "cpu" sees the batches of
both ranks, so its parameters must be the same in the end. Exit status 0: they are.
"""

import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torch_npu  # noqa: F401
from torch.nn.parallel import DistributedDataParallel

RANKS, STEPS, BATCH = 2, 50, 32


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))


def batch(rank, step):
    """Points of the plane, and whether they lie in the unit circle."""
    points = torch.randn(BATCH, 2, generator=torch.Generator().manual_seed(RANKS * step + rank))
    return points, (points.square().sum(1, keepdim=True) < 1).float()


def train(model, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def on_cpu():
    model = network()
    losses = train(model, lambda step: sum(
        torch.nn.functional.binary_cross_entropy_with_logits(model(points), inside)
        for points, inside in (batch(rank, step) for rank in range(RANKS))) / RANKS)
    return model, losses


def work(rank, port):
    device = torch.device("npu", rank % torch.npu.device_count())
    torch.npu.set_device(device)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("hccl", rank=rank, world_size=RANKS)
    model = DistributedDataParallel(network().to(device), device_ids=[device.index])

    def loss_of(step):
        points, inside = (tensor.to(device) for tensor in batch(rank, step))
        return torch.nn.functional.binary_cross_entropy_with_logits(model(points), inside)

    losses = train(model, loss_of)
    total = torch.tensor(losses, device=device)
    dist.all_reduce(total, dist.ReduceOp.AVG)
    if rank == 0:
        expected, losses = on_cpu()
        for mine, parameter in zip(model.module.parameters(), expected.parameters()):
            torch.testing.assert_close(mine.detach().cpu(), parameter.detach(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(total.cpu(), torch.tensor(losses), rtol=1e-4, atol=1e-4)
        print(f"{RANKS} ranks, {STEPS} steps: loss {losses[0]:.3f} to {losses[-1]:.3f}, as on cpu")
        if losses[-1] > 0.75 * losses[0]:
            sys.exit("the network has not learnt")
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    processes.spawn(work, args=(free,), nprocs=RANKS)
