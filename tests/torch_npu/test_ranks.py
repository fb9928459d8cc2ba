# SPDX-License-Identifier: Apache-2.0
"""Ranks: backend "hccl" by torch's Gloo. torchrun itself starts some; the others are forks."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import FOLDER

LAUNCH = ("-W", "ignore", "-m", "torch.distributed.run", "--nproc-per-node")


def text_of(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def all_right(output, ranks):
    assert output.count("right") == ranks, output


def test_each_collective_and_dtype(program):
    all_right(program.ranks(2, text_of("ranks.py")), 2)


def test_each_collective_and_dtype_in_stream_order(program):
    """The mode is read when torch_npu is imported, so torchrun starts these."""
    done = program.run(*LAUNCH, 2, "--standalone", FOLDER / "ranks.py", OMP_NUM_THREADS="1",
                       ADVANCE_STEP_HOST_OPERATORS="queue")
    all_right(done.stdout, 2)


def test_ranks_on_torch_npus_own_backend(program):
    done = program.run(*LAUNCH, 2, "--standalone", FOLDER / "ranks_library.py", OMP_NUM_THREADS="1",
                       ADVANCE_STEP_HCCL="c", ADVANCE_STEP_HOST_OPERATORS="aclnn")
    all_right(done.stdout, 2)


def test_ranks_of_unequal_sizes(program):
    all_right(program.ranks(3, text_of("ranks_uneven.py")), 3)


def test_training(program):
    all_right(program.ranks(2, text_of("ranks_train.py")), 2)


FOUR = """
import os, torch, torch_npu, torch.distributed as dist
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
rank, half = dist.get_rank(), [dist.new_group([0, 2]), dist.new_group([1, 3])]
x = torch.tensor([rank], device="npu")
dist.all_reduce(x, group=half[rank % 2])
assert x.item() == (2, 4)[rank % 2]
dist.all_reduce(x)
assert x.item() == 12
got = [torch.empty(1, device="npu") for _ in range(4)]
dist.all_to_all(got, [torch.full((1,), 10. * rank + other, device="npu") for other in range(4)])
assert [one.item() for one in got] == [10 * other + rank for other in range(4)]
print("right", flush=True)
"""


def test_four_ranks_with_a_device_each(program):
    all_right(program.ranks(4, FOUR, ADVANCE_STEP_DEVICES="4"), 4)


DISAGREE = """
import os, torch, torch_npu, torch.distributed as dist
import torch_npu.distributed as of_npu
dist.set_debug_level_from_env()
rank = int(os.environ["RANK"])
device = torch.device("npu", rank)
torch.npu.set_device(device)
dist.init_process_group("hccl", device_id=device)

def ones(size, dtype=torch.float32):
    return torch.ones(size, dtype=dtype, device=device)

def refused(words, call):
    try:
        call()
    except RuntimeError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(words)

shapes = ["TensorShape=[8]", "TensorShape=[9]"]
refused(["ALLREDUCE", *shapes], lambda: dist.all_reduce(ones(8 + rank)))
refused(["REDUCE_SCATTER", *shapes], lambda: dist.reduce_scatter(ones(8 + rank), [ones(8 + rank)] * 2))
refused(["ALLGATHER_BASE", *shapes],
        lambda: dist.all_gather_into_tensor(ones(2 * (8 + rank)), ones(8 + rank)))
refused(["BROADCAST", "TensorDtypes=Int", "TensorDtypes=Float"],
        lambda: dist.broadcast(ones(8, (torch.int32, torch.float32)[rank]), 0))
refused(["BROADCAST", "ALLREDUCE"],
        lambda: dist.all_reduce(ones(8)) if rank else dist.broadcast(ones(8), 0))
got = ones(3)
of_npu.all_gather_into_tensor_uneven(got, ones(rank + 1) * (rank + 1), [1, 2])
assert got.tolist() == [1, 2, 2]
mine = ones(rank + 1)
of_npu.reduce_scatter_tensor_uneven(mine, got, [1, 2])
assert mine.tolist() == ([2], [4, 4])[rank]
backend = dist.group.WORLD._get_backend(device)
assert backend.get_hccl_comm_name(rank) == "hccl_0" == backend.wrapped_pg.get_hccl_comm_name(rank)

mesh = dist.init_device_mesh("npu", (2,))
dist.all_reduce(mine[:1], group=mesh.get_group())
assert mine[0] == 6
refused(["does not support splitting"], lambda: dist.init_device_mesh("npu", (1, 2)))
assert dist.get_world_size(dist.new_group([0, 1])) == 2
print("right", flush=True)
"""


def test_ranks_that_disagree_are_refused_where_torch_is_asked_to_compare_them(program):
    all_right(program.ranks(2, DISAGREE, TORCH_DISTRIBUTED_DEBUG="DETAIL"), 2)


KILLED = """
import datetime, os, signal, sys, time, torch, torch_npu, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.npu.set_device(rank)
dist.init_process_group("hccl", timeout=datetime.timedelta(seconds=20))
x = torch.ones(1 << 20, device="npu")
dist.all_reduce(x)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.monotonic()
try:
    for _ in range(1000):
        dist.all_reduce(x)
except dist.DistBackendError as error:
    assert "hccl all_reduce: " in str(error), error
    assert time.monotonic() - begin < 25
    print("right", flush=True)
    os._exit(0)
"""


def test_a_killed_rank_is_an_error_on_the_others(program):
    all_right(program.ranks(2, KILLED, statuses=[0, -signal.SIGKILL]), 1)


STOPPED = """
import os, torch, torch_npu, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.npu.set_device(rank)
dist.init_process_group("hccl")
store = dist.distributed_c10d._get_default_store()
x, y = torch.full((3,), 2., device="npu"), torch.full((3,), 5., device="npu")
dist.all_reduce(x)
assert x.tolist() == [4] * 3
def says_force_stop(call, *arguments):
    try:
        call(*arguments)
    except RuntimeError as error:
        assert "FORCE STOP" in str(error) and "hccl " in str(error), error
    else:
        raise AssertionError("no error")
if rank == 0:
    work, received = dist.all_reduce(x, async_op=True), dist.irecv(y, 1)
    future = work.get_future()
    torch_npu.npu.stop_device(0)
    says_force_stop(work.wait)
    says_force_stop(future.wait)
    says_force_stop(received.wait)
    assert work.is_completed() and not work.is_success() and received.is_completed()
    says_force_stop(dist.all_reduce, x)
    says_force_stop(dist.send, x, 1)
    torch_npu.npu.restart_device(0)
    store.set("restarted", "")
else:
    store.wait(["restarted"])
    dist.all_reduce(x)  # the one that has been stopped on the other rank
z = torch.full((3,), rank + 1., device="npu")
dist.all_reduce(z)
assert z.tolist() == [3] * 3
print("right", flush=True)
"""


def test_a_stopped_device_ends_the_collectives_under_way(program):
    all_right(program.ranks(2, STOPPED), 2)


HOST = """
import os, torch, torch_npu, torch.distributed as dist
dist.init_process_group("hccl")
x = torch.full((3,), dist.get_rank() + 1., device="npu")
dist.all_reduce(x)
assert x.tolist() == [3] * 3
print("right", flush=True)
"""


def test_two_hosts(program, tmp_path):
    """Two network namespaces with one link between them, and torchrun in each."""
    names = [f"advstep{os.getpid()}{side}" for side in "ab"]

    def ip(*arguments):
        return subprocess.run(["ip", *arguments], capture_output=True, text=True)

    (tmp_path / "host.py").write_text(HOST, encoding="utf-8")
    try:
        try:
            made = [ip("netns", "add", name) for name in names]
        except FileNotFoundError:
            pytest.skip("no program ip")
        if any(one.returncode for one in made):
            pytest.skip(f"network namespaces cannot be made: {made[0].stderr.strip()}")
        assert ip("link", "add", "link0", "netns", names[0], "type", "veth", "peer", "name", "link0",
                  "netns", names[1]).returncode == 0
        hosts = []
        for index, name in enumerate(names):
            for command in (("addr", "add", f"10.77.0.{index + 1}/24", "dev", "link0"),
                            ("link", "set", "link0", "up"), ("link", "set", "lo", "up")):
                assert ip("-n", name, *command).returncode == 0
        for index, name in enumerate(names):
            hosts.append(subprocess.Popen(
                ["ip", "netns", "exec", name, sys.executable, "-m", "advance_step.torch_npu", *LAUNCH,
                 "1", "--nnodes", "2", "--node-rank", str(index), "--master-addr", "10.77.0.1",
                 "--master-port", "29400", "host.py"], cwd=tmp_path, text=True,
                env={**os.environ, "GLOO_SOCKET_IFNAME": "link0", "OMP_NUM_THREADS": "1"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        for host in hosts:
            output = host.communicate(timeout=180)[0]
            assert "right" in output and host.returncode == 0, output
    finally:
        for name in names:
            ip("netns", "delete", name)
