# SPDX-License-Identifier: Apache-2.0
"""A program of every rank: DistributedDataParallel, FSDP2 and meshes against one model on "cpu".

`test_ranks.py` starts it. The model on "cpu" sees the data of all ranks; what is compared is its parameters.
"""

import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch_npu  # noqa: F401
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

STEPS = 3


def made():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 5))


def loss(model, rank, step, device):
    batch = torch.randn(6, 8, generator=torch.Generator().manual_seed(100 * rank + step))
    return model(batch.to(device)).square().mean()


def trained(model, device, losses):
    # AdamW would hide a sum of the ranks in place of their mean: it scales gradients itself.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        losses(model, step, device).backward()
        optimizer.step()
    return model


def expected(size):
    return trained(made(), "cpu", lambda model, step, device: sum(
        loss(model, rank, step, device) for rank in range(size)) / size)


def close(model, wanted, tolerance):
    for mine, parameter in zip(model.parameters(), wanted.parameters()):
        whole = mine.full_tensor() if hasattr(mine, "full_tensor") else mine
        torch.testing.assert_close(whole.detach().cpu(), parameter.detach(), rtol=tolerance,
                                   atol=tolerance)


def data_parallel(rank, size, device, wanted):
    def mine(model, step, device):
        return loss(model, rank, step, device)

    close(trained(DistributedDataParallel(made().to(device), device_ids=[device.index]), device, mine),
          wanted, 1e-6)
    model = DistributedDataParallel(made().to(device), device_ids=[device.index])
    model.register_comm_hook(None, fp16_compress_hook)  # its callback runs on a thread of Gloo
    close(trained(model, device, mine), wanted, 1e-3)
    with model.no_sync():
        mine(model, 0, device).backward()
    mine(model, 1, device).backward()


def sharded(rank, size, device, wanted):
    meshes = [init_device_mesh("npu", (size,)),
              init_device_mesh("npu", (size // 2, 2), mesh_dim_names=("replicate", "shard"))]
    for mesh in meshes:
        for policy, tolerance in ((MixedPrecisionPolicy(), 1e-6),
                                  (MixedPrecisionPolicy(param_dtype=torch.bfloat16,
                                                        reduce_dtype=torch.float32), 3e-3)):
            model = made().to(device)
            for module in (model[0], model):
                fully_shard(module, mesh=mesh, mp_policy=policy)
            trained(model, device, lambda model, step, device: loss(model, rank, step, device))
            close(model, wanted, tolerance)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def statistics_of_all_ranks(rank, size, device):
    """SyncBatchNorm on unequal parts of a batch is BatchNorm on the whole."""
    torch.manual_seed(1)
    for affine in (True, False):
        plain = torch.nn.BatchNorm2d(3, affine=affine)
        mine = DistributedDataParallel(torch.nn.Sequential(
            torch.nn.Conv2d(2, 3, 1), torch.nn.SyncBatchNorm(3, affine=affine)).to(device))
        model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 1), plain)
        model.load_state_dict({name: value.cpu() for name, value in mine.module.state_dict().items()})
        whole = torch.randn(size * (size + 1) // 2, 2, 4, 4)
        begin = rank * (rank + 1) // 2
        wanted, result = model(whole), mine(whole[begin:begin + rank + 1].to(device))
        torch.testing.assert_close(result.cpu(), wanted[begin:begin + rank + 1])
        torch.testing.assert_close(mine.module[1].running_mean.cpu(), plain.running_mean)
        torch.testing.assert_close(mine.module[1].running_var.cpu(), plain.running_var)
        wanted.exp().sum().backward()
        result.exp().sum().backward()
        for one, other in zip(mine.parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(one.grad.cpu() * size, other.grad, rtol=1e-3, atol=1e-3)


def meshes(size, device):
    mesh = init_device_mesh("npu", (size,))
    numbers = torch.arange(8.0)
    tensor = distribute_tensor(numbers.to(device), mesh, [Shard(0)])
    assert tensor.to_local().numel() == 8 // size
    assert torch.equal(tensor.redistribute(placements=[Replicate()]).to_local().cpu(), numbers)
    ones = torch.ones(size, device=device)
    assert functional.all_reduce(ones, "sum", mesh).tolist() == [size] * size
    assert functional.reduce_scatter_tensor(ones, "avg", 0, mesh).tolist() == [1]
    assert torch.compile(lambda x: functional.all_reduce(x * 2, "sum", mesh) + 1, backend="eager")(
        ones).tolist() == [2 * size + 1] * size


def main():
    device = torch.device("npu", int(os.environ["LOCAL_RANK"]))
    torch.npu.set_device(device)
    for options in ({}, {"backend": "npu:hccl"}, {"backend": "cpu:gloo,npu:hccl"},
                    {"backend": "hccl", "device_id": device}):
        dist.init_process_group(**options)  # again and again in the same store
        total = torch.ones(1, device=device)
        dist.all_reduce(total)
        assert total.item() == dist.get_world_size()
        if "cpu" in options.get("backend", ""):
            dist.all_reduce(torch.ones(1))
        dist.barrier(device_ids=[device.index])
        dist.destroy_process_group()
    dist.init_process_group("hccl")
    rank, size = dist.get_rank(), dist.get_world_size()
    wanted = expected(size)
    data_parallel(rank, size, device, wanted)
    sharded(rank, size, device, wanted)
    statistics_of_all_ranks(rank, size, device)
    meshes(size, device)
    dist.destroy_process_group()
    print("right", flush=True)


main()
