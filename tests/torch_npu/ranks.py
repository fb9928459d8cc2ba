# SPDX-License-Identifier: Apache-2.0
"""A program of every rank: each collective and dtype of "hccl" against plain arithmetic on "cpu".

`test_ranks.py` starts it. Each rank knows what the others contribute, so that it computes what is expected.
"""

import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from rank_values import COPIED, FLOATS, INTEGERS, part, reduced, reductions, refused, same

EMPTY = (0, 3)


class Checks:
    def __init__(self, group=None, shape=(4, 3)):
        self.group, self.shape = group, shape
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.ranks = range(self.size)
        self.root = self.size - 1
        self.options = {"group": group}

    def parts(self, dtype, salt=0):
        return [part(rank, dtype, self.shape, salt) for rank in self.ranks]

    def empty(self, dtype, shape=None):
        return torch.empty(self.shape if shape is None else shape, dtype=dtype, device="npu")

    def reduction(self, dtype):
        for op, plain in reductions(dtype).items():
            parts = self.parts(dtype)
            expected = reduced(plain, parts)
            mine = parts[self.rank].npu()
            dist.all_reduce(mine, op, **self.options)
            same(mine, expected, f"all_reduce {op} {dtype}")
            mine = parts[self.rank].npu()
            dist.reduce(mine, op=op, group_dst=self.root, **self.options)
            same(mine, expected if self.rank == self.root else parts[self.rank], f"reduce {op}")
            whole = [self.parts(dtype, salt) for salt in self.ranks]  # [part][rank]
            expected = reduced(plain, whole[self.rank])
            mine, inputs = self.empty(dtype), [salt[self.rank].npu() for salt in whole]
            dist.reduce_scatter(mine, inputs, op, **self.options)
            same(mine, expected, f"reduce_scatter {op} {dtype}")
            mine = self.empty(dtype)
            dist.reduce_scatter_tensor(mine, torch.cat(inputs), op, **self.options)
            same(mine, expected, f"reduce_scatter_tensor {op} {dtype}")

    def average(self, dtype):
        parts = self.parts(dtype)
        expected = reduced(torch.add, parts) / self.size
        mine = parts[self.rank].npu()
        dist.all_reduce(mine, dist.ReduceOp.AVG, **self.options)
        same(mine, expected, f"all_reduce AVG {dtype}")
        mine = self.empty(dtype)
        dist.reduce_scatter_tensor(mine, torch.cat([parts[self.rank].npu()] * self.size),
                                   dist.ReduceOp.AVG, **self.options)
        same(mine, expected, f"reduce_scatter_tensor AVG {dtype}")
        mine = parts[self.rank].npu()
        dist.all_reduce(mine, dist._make_nccl_premul_sum(2.0), **self.options)
        same(mine, reduced(torch.add, parts) * 2, f"all_reduce PREMUL_SUM {dtype}")

    def copies(self, dtype):
        parts = self.parts(dtype)
        mine = parts[self.rank].npu()
        got = parts[self.rank].npu()
        dist.broadcast(got, group_src=self.root, **self.options)
        same(got, parts[self.root], f"broadcast {dtype}")
        got = [self.empty(dtype) for _ in self.ranks]
        dist.all_gather(got, mine, **self.options)
        for one, expected in zip(got, parts):
            same(one, expected, f"all_gather {dtype}")
        got = self.empty(dtype, (self.size * self.shape[0], *self.shape[1:]))
        dist.all_gather_into_tensor(got, mine, **self.options)
        same(got, torch.cat([one.view(torch.uint8) for one in parts]).view(dtype)
             if self.shape != EMPTY else got.cpu(), f"all_gather_into_tensor {dtype}")
        got = [self.empty(dtype) for _ in self.ranks] if self.rank == self.root else None
        dist.gather(mine, got, dst=dist.get_global_rank(self.group or dist.group.WORLD, self.root),
                    **self.options)  # torch_npu has its own, without group_dst
        for one, expected in zip(got or [], parts):
            same(one, expected, f"gather {dtype}")
        got = self.empty(dtype)
        dist.scatter(got, [one.npu() for one in parts] if self.rank == self.root else None,
                     group_src=self.root, **self.options)
        same(got, mine.cpu(), f"scatter {dtype}")
        got = [self.empty(dtype) for _ in self.ranks]
        dist.all_to_all(got, [part(self.rank, dtype, self.shape, salt).npu() for salt in self.ranks],
                        **self.options)
        for other, one in enumerate(got):
            same(one, part(other, dtype, self.shape, self.rank), f"all_to_all {dtype}")

    def splits(self):
        """all_to_all_single: rank r gives r + 1 rows to each, then an equal share to each."""
        mine = part(self.rank, torch.float16, ((self.rank + 1) * self.size, 3)).npu()
        rows = [rank + 1 for rank in self.ranks]
        got = self.empty(torch.float16, (sum(rows), 3))
        dist.all_to_all_single(got, mine, rows, [self.rank + 1] * self.size, **self.options)
        expected = torch.cat([part(rank, torch.float16, ((rank + 1) * self.size, 3))
                              [(rank + 1) * self.rank:(rank + 1) * (self.rank + 1)]
                              for rank in self.ranks])
        same(got, expected, "all_to_all_single")
        mine = torch.full((self.size, 2), self.rank).npu()
        got = torch.empty_like(mine)
        dist.all_to_all_single(got, mine, **self.options)
        same(got, torch.arange(self.size)[:, None].expand(-1, 2), "all_to_all_single equal")

    def neighbours(self, dtype):
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        mine, got = part(self.rank, dtype).npu(), self.empty(dtype, (4, 3))
        works = [dist.isend(mine, group_dst=after, **self.options),
                 dist.irecv(got, group_src=before, **self.options)]
        for work in works:
            work.wait()
        same(got, part(before, dtype), f"isend, irecv {dtype}")
        got.zero_()
        works = dist.batch_isend_irecv([
            dist.P2POp(dist.isend, mine, group_peer=after, group=self.group),
            dist.P2POp(dist.irecv, got, group_peer=before, group=self.group)])
        for work in works:
            work.wait()
        same(got, part(before, dtype), f"batch_isend_irecv {dtype}")
        if self.rank == 0:
            dist.send(mine, group_dst=1, tag=3, **self.options)
            dist.recv(got, tag=4, **self.options)
        elif self.rank == 1:
            assert dist.recv(got, group_src=0, tag=3, **self.options) == dist.get_global_rank(
                self.group or dist.group.WORLD, 0)
            same(got, part(0, dtype), f"recv {dtype}")
            dist.send(mine, group_dst=0, tag=4, **self.options)

    def layouts(self):
        """Tensors that are not contiguous: slices, transposed and channels_last, as in and out."""
        for change in (lambda x: x.t(), lambda x: torch.stack([x, x], -1)[..., 0]):
            mine = change(part(self.rank, torch.float32).npu())
            expected = reduced(torch.add, [change(one) for one in self.parts(torch.float32)])
            dist.all_reduce(mine, **self.options)
            same(mine, expected, "all_reduce of a layout")
            mine = change(part(self.rank, torch.float32).npu())
            dist.broadcast(mine, group_src=0, **self.options)
            same(mine, change(part(0, torch.float32)), "broadcast of a layout")
            got = [change(self.empty(torch.float32)) for _ in self.ranks]
            dist.all_gather(got, mine, **self.options)
            same(got[-1], change(part(0, torch.float32)), "all_gather of a layout")
        scalar = torch.tensor(float(self.rank), device="npu")
        dist.all_reduce(scalar, **self.options)
        assert scalar.item() == sum(self.ranks)

    def several(self):
        """Coalesced forms."""
        tensors = [part(self.rank, torch.float32, salt=salt).npu() for salt in range(3)]
        expected = [reduced(torch.add, self.parts(torch.float32, salt)) for salt in range(3)]
        group = self.group or dist.group.WORLD
        with dist._coalescing_manager(group):
            for tensor in tensors:
                dist.all_reduce(tensor, group=group)
        for tensor, wanted in zip(tensors, expected):
            same(tensor, wanted, "all_reduce, coalesced")
        with dist._coalescing_manager(group, async_ops=True) as manager:
            outs = [self.empty(torch.float32, (4 * self.size, 3)) for _ in tensors]
            for out, tensor in zip(outs, tensors):
                dist.all_gather_into_tensor(out, tensor, group=group)
        manager.wait()
        for out, wanted in zip(outs, expected):
            same(out, torch.cat([wanted] * self.size), "all_gather_into_tensor, coalesced")
        with dist._coalescing_manager(group, device=torch.device("npu"), async_ops=True) as manager:
            for out, tensor in zip(outs, tensors):
                dist.reduce_scatter_tensor(tensor, out, group=group)
        manager.wait()
        for tensor, wanted in zip(tensors, expected):
            same(tensor, wanted * self.size, "reduce_scatter_tensor, coalesced")

    def objects(self):
        got = [None] * self.size
        dist.all_gather_object(got, {"rank": self.rank}, **self.options)
        assert got == [{"rank": rank} for rank in self.ranks]
        mine = ["of the root", self.rank] if self.rank == self.root else [None, None]
        dist.broadcast_object_list(mine, group_src=self.root, **self.options)
        assert mine == ["of the root", self.root]
        dist.scatter_object_list(mine, [str(rank) for rank in self.ranks]
                                 if self.rank == self.root else None, group_src=self.root,
                                 **self.options)
        assert mine[0] == str(self.rank)
        dist.barrier(**self.options)

    def order(self):
        """A collective sees what the stream has queued; wait() orders what comes after it."""
        for stream in (torch.npu.current_stream(), torch.npu.Stream()):
            with torch.npu.stream(stream):
                mine = torch.ones(1 << 16, device="npu")
                for _ in range(20):
                    mine.add_(1)
                work = dist.all_reduce(mine, async_op=True, **self.options)
                work.wait()
                assert work.is_completed()
                mine.mul_(2)
                same(mine, torch.full((1 << 16,), 42.0 * self.size), "stream order")
                future = dist.all_reduce(mine, async_op=True, **self.options).get_future()
                doubled = future.then(lambda done: done.value()[0] * 2).wait()
                same(doubled, torch.full((1 << 16,), 84.0 * self.size ** 2), "future")
        for _ in range(20):  # a Work and a tensor that nobody keeps
            dist.all_reduce(torch.ones(1 << 14, device="npu"), async_op=True, **self.options)
        dist.barrier(**self.options)

    def all(self):
        for dtype in [*FLOATS, *INTEGERS, torch.bool]:
            self.reduction(dtype)
        for dtype in FLOATS:
            self.average(dtype)
        for dtype in COPIED:
            self.copies(dtype)
        for dtype in (torch.float32, torch.bfloat16, torch.int16, torch.bool):
            self.neighbours(dtype)
        self.splits()
        self.layouts()
        self.several()
        self.objects()
        self.order()


def refusals():
    """An error names the collective; nothing has been sent, so the next one works."""
    x = torch.ones(4, device="npu")
    refused(TypeError, "hccl all_reduce: Gloo has no BOR of Float",
            lambda: dist.all_reduce(x, dist.ReduceOp.BOR))
    refused(TypeError, "hccl all_reduce: Gloo has no AVG of Int",
            lambda: dist.all_reduce(x.int(), dist.ReduceOp.AVG))
    refused(TypeError, "hccl all_reduce: Gloo has no SUM of Float8_e4m3fn",
            lambda: dist.all_reduce(x.to(torch.float8_e4m3fn)))
    refused(ValueError, "hccl all_gather_into_tensor: the output has 4 elements; expected",
            lambda: dist.all_gather_into_tensor(x, x))
    odd = torch.ones(dist.get_world_size() + 1, device="npu")
    refused(ValueError, "hccl all_to_all_single: the shape of the input is",
            lambda: dist.all_to_all_single(odd.clone(), odd))
    refused(ValueError, "hccl recv: the tensor is not contiguous",
            lambda: dist.recv(torch.ones(4, 4, device="npu").t(), 0))
    refused(RuntimeError, "No backend type associated with device type cpu",
            lambda: dist.all_reduce(torch.ones(4)))
    with_graph = torch.npu.NPUGraph()
    torch.npu.synchronize()

    def capture():
        with torch.npu.graph(with_graph):
            dist.all_reduce(x)

    if os.environ.get("ADVANCE_STEP_HOST_OPERATORS") != "python":
        refused(RuntimeError, "hccl all_reduce cannot be captured", capture)
    dist.all_reduce(x)
    same(x, torch.full((4,), float(dist.get_world_size())), "all_reduce after refusals")


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.npu.set_device(rank)
    dist.init_process_group("hccl")
    assert dist.get_backend() == "hccl"
    Checks().all()
    Checks(shape=EMPTY).copies(torch.float32)
    size = dist.get_world_size()
    if size > 2:
        groups = [dist.new_group(list(range(begin, size, 2))) for begin in range(2)]
        Checks(groups[dist.get_rank() % 2]).all()
    refusals()
    dist.destroy_process_group()
    print("right", flush=True)


main()
