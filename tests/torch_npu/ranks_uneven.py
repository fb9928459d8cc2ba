# SPDX-License-Identifier: Apache-2.0
"""A program of every rank: collectives of ranks that contribute unequal sizes, also none.

`test_ranks.py` starts it.
"""

import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from rank_values import COPIED, part, same

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

    def all(self):
        for dtype in COPIED:
            self.gather(dtype)
            self.exchange(dtype)
        self.layouts()


def refused(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__}: {text}")


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
    same(x, torch.ones(2), "the tensor after refusals")


def main():
    torch.npu.set_device(0)
    dist.init_process_group("cpu:gloo,npu:hccl")
    size = dist.get_world_size()
    Uneven().all()
    groups = [dist.new_group([0, 2]), dist.new_group([1])]
    Uneven(groups[dist.get_rank() % 2]).all()
    refusals(size)
    dist.barrier()
    dist.destroy_process_group()
    print("right", flush=True)


main()
