# SPDX-License-Identifier: Apache-2.0
"""A program of every rank: collectives of ranks that contribute unequal sizes, also none.

`test_ranks.py` starts it.
"""

import os

import torch
import torch.distributed as dist
import torch_npu
import torch_npu.distributed as of_npu
from rank_values import COPIED, part, reduced, refused, same

ROWS = [3, 0, 2]


class Uneven:
    def __init__(self, group=None):
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.ranks = range(self.size)
        self.rows = ROWS[:self.size]
        self.options = {"group": group}

    def part(self, rank, dtype=torch.float32, salt=0):
        return part(rank, dtype, (self.rows[rank], 4), salt)

    def empty(self, rank, dtype=torch.float32):
        return torch.zeros(self.rows[rank], 4, device="npu").to(dtype)

    def gather(self, dtype):
        mine = self.part(self.rank, dtype).npu()
        for wait in (True, False):
            got = [self.empty(rank, dtype) for rank in self.ranks]
            work = dist.all_gather(got, mine, async_op=not wait, **self.options)
            if not wait:
                work.wait()
                assert work.is_completed() and work.is_success()
            for rank, one in enumerate(got):
                same(one, self.part(rank, dtype), f"all_gather {dtype}")

    def exchange(self, dtype):
        """Rank i gives rank j this many elements, also shapes of one, two and no dimensions."""
        def sent(source, to):
            return part(source, dtype, [(3,), (0, 2), (), (2, 2)][(source + 2 * to) % 4], to)

        for wait in (True, False):
            mine = [sent(self.rank, rank).npu() for rank in self.ranks]
            got = [torch.zeros_like(sent(rank, self.rank)).npu() for rank in self.ranks]
            work = dist.all_to_all(got, mine, async_op=not wait, **self.options)
            if not wait:
                work.wait()
            for rank, one in enumerate(got):
                same(one, sent(rank, self.rank), f"all_to_all {dtype}")

    def layouts(self):
        """Inputs and outputs that are not contiguous, and an input that is its own output."""
        wide = [torch.zeros(self.rows[rank], 8, device="npu") for rank in self.ranks]
        mine = self.part(self.rank).t().contiguous().npu().t()
        dist.all_gather([one[:, ::2] for one in wide], mine, **self.options)
        for rank, one in enumerate(wide):
            assert one[:, ::2].cpu().equal(self.part(rank)) and not one[:, 1::2].any()
        dist.all_to_all([one[:, 1::2] for one in wide],
                        [torch.full((4, self.rows[self.rank]), 1. + rank, device="npu").t()
                         for rank in self.ranks], **self.options)
        for rank, one in enumerate(wide):
            assert one[:, ::2].cpu().equal(self.part(rank)) and (one[:, 1::2] == 1 + self.rank).all()
        got = [self.empty(rank) for rank in self.ranks]
        got[self.rank].copy_(self.part(self.rank))
        dist.all_gather(got, got[self.rank], **self.options)
        same(torch.cat(got), torch.cat([self.part(rank) for rank in self.ranks]), "in place")
        # As many elements in other shapes.
        got = [torch.zeros(4, device="npu"), *[torch.zeros(2, 2, device="npu")] * (self.size - 1)]
        dist.all_gather([got[0], *[one.clone() for one in got[1:]]], torch.ones(1, 4, device="npu"),
                        **self.options)

    def tensors(self):
        """torch_npu.distributed."""
        for rows in (self.rows, [2] * self.size, None):
            each = rows or [2] * self.size
            parts = [part(rank, torch.float32, (each[rank], 4)) for rank in self.ranks]
            got = torch.zeros(sum(each), 4, device="npu")
            of_npu.all_gather_into_tensor_uneven(got, parts[self.rank].npu(), rows, **self.options)
            same(got, torch.cat(parts), "all_gather_into_tensor_uneven")
            sums = reduced(torch.maximum, [torch.cat(parts) + rank for rank in self.ranks])
            got = torch.zeros(each[self.rank], 4, device="npu")
            work = of_npu.reduce_scatter_tensor_uneven(
                got, (torch.cat(parts) + self.rank).npu(), rows, op=dist.ReduceOp.MAX, async_op=True,
                **self.options)
            work.wait()
            same(got, sums.split(each)[self.rank], "reduce_scatter_tensor_uneven")
        matrix = [[(source + 2 * to) % 4 for to in self.ranks] for source in self.ranks]
        mine = torch.cat([torch.full((matrix[self.rank][to],), 10. * self.rank + to)
                          for to in self.ranks])
        got = torch.zeros(sum(row[self.rank] for row in matrix), device="npu")
        of_npu.all_to_all_vc(got, mine.npu(), matrix, **self.options)
        same(got, torch.cat([torch.full((matrix[source][self.rank],), 10. * source + self.rank)
                             for source in self.ranks]), "all_to_all_vc")

    def all(self):
        for dtype in COPIED:
            self.gather(dtype)
            self.exchange(dtype)
        self.layouts()
        self.tensors()


def refusals(size):
    """Each rank is refused, and nothing has been sent."""
    x = torch.ones(2, device="npu")
    refused(ValueError, "hccl all_gather: the output of this rank has 3 elements; expected 2 as in",
            lambda: dist.all_gather([torch.ones(3, device="npu")] * size, x))
    refused(ValueError, "hccl all_gather: 1 outputs; expected",
            lambda: dist.all_gather([x], x))
    refused(ValueError, "hccl all_to_all: the output of this rank has 3 elements; expected 2 as in",
            lambda: dist.all_to_all([torch.ones(3, device="npu")] * size, [x] * size))
    refused(ValueError, "hccl all_to_all: 1 inputs; expected",
            lambda: dist.all_to_all([x] * size, [x]))
    refused(ValueError, "hccl all_gather_into_tensor_uneven: output_split_sizes is [1, 2]; expected",
            lambda: of_npu.all_gather_into_tensor_uneven(x, x, [1, 2]))
    refused(ValueError, "hccl reduce_scatter_tensor_uneven: input_split_sizes is [2, -1, 1]; expected",
            lambda: of_npu.reduce_scatter_tensor_uneven(x, x, [2, -1, 1]))
    refused(ValueError, "hccl all_to_all_vc: the input has shape [2] and strides [1]; expected",
            lambda: of_npu.all_to_all_vc(x.clone(), x, [[1] * size] * size))
    same(x, torch.ones(2), "the tensor after refusals")


def names(groups):
    """Each group has a name of its own, and counts its collectives."""
    def name(group):
        return group._get_backend(torch.device("npu")).get_hccl_comm_name(dist.get_rank())

    rank = dist.get_rank()
    mine = [dist.group.WORLD, *(group for group in groups if group is not
                                dist.GroupMember.NON_GROUP_MEMBER)]
    for group in mine:
        everyone = [None] * dist.get_world_size(group)
        dist.all_gather_object(everyone, name(group), group=group)
        assert everyone == [name(group)] * len(everyone) and name(group), everyone
        group._set_sequence_number_for_group()
        before = group._get_sequence_number_for_group()
        dist.all_reduce(torch.ones(1, device="npu"), group=group)
        assert group._get_sequence_number_for_group() == before + 1
    assert len({name(group) for group in mine}) == len(mine) > 1
    gloo = dist.new_group(backend="gloo")._get_backend(torch.device("cpu"))
    assert not hasattr(gloo, "get_hccl_comm_name")
    backend = dist.group.WORLD._get_backend(torch.device("npu"))
    for call, text in (
            (of_npu.reinit_process_group, "torch_npu.distributed.reinit_process_group is not emul"),
            (lambda: of_npu.reinit_process_group(None, False),
             "torch_npu.distributed.reinit_process_group is not emulated"),
            (lambda: of_npu.distributed_c10d._comm_switch_nic([rank], [True]),
             "_comm_switch_nic is not emulated"),
            (lambda: backend.get_hccl_comm(rank), "hccl get_hccl_comm is not emulated")):
        refused(NotImplementedError, text, call)
    for public in torch_npu._C._distributed_c10d.ProcessGroupHCCL.__dict__:
        assert public in ("options", "mem_allocator") or hasattr(backend, public), public


def main():
    torch.npu.set_device(0)
    dist.init_process_group("cpu:gloo,npu:hccl")
    size = dist.get_world_size()
    Uneven().all()
    groups = [dist.new_group([0, 2]), dist.new_group([1])]
    Uneven(groups[dist.get_rank() % 2]).all()
    refusals(size)
    names(groups)
    dist.barrier()
    dist.destroy_process_group()
    print("right", flush=True)


main()
