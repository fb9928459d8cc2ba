# SPDX-License-Identifier: Apache-2.0
"""Programs of torch under ADVANCE_STEP_SANITIZE, each in a process of its own."""

import json
import subprocess
import sys

import pytest

from conftest import variables_of_programs

SANITIZED = {"ADVANCE_STEP_SANITIZE": "all", "ADVANCE_STEP_SANITIZE_ACTION": "fail", "ADVANCE_STEP_HOST_OPERATORS": "1"}
USE = """
import torch, torch_npu
side = torch.npu.Stream()

def use(after):
    a, b = (torch.zeros(100000, device="npu") for _ in range(2))
    torch.npu.synchronize()
    with torch.npu.stream(side):
        b.add_(a)
    after(a)
    del a
    again = torch.zeros(100000, device="npu")  # the allocator may give it the memory of a
    torch.npu.synchronize()
"""


def test_a_tensor_that_is_freed_while_another_stream_uses_it_is_found():
    done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", "-c", USE + "use(lambda a: None)\nprint('end')"],
                          env={**variables_of_programs(), **SANITIZED}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "end\n"), done.stderr
    assert "sanitizer: race: race: aten::add_.Tensor on stream" in done.stderr
    assert "aten::add_.Tensor reads aten::add_.Tensor: 400000 bytes" in done.stderr


LINES = """
import sys
import threading

import torch
import torch_npu

side = torch.npu.Stream()


class Model(torch.nn.Module):
    def forward(self, a, b):
        with torch.npu.stream(side):
            b.add_(a)


def naïve(model):
    a, b = (torch.zeros(100000, device="npu") for _ in range(2))
    torch.npu.synchronize()
    model(a, b)
    del a
    again = torch.zeros(100000, device="npu")
    torch.npu.synchronize()


if sys.argv[1] == "thread":
    thread = threading.Thread(target=naïve, args=(Model(),))
    thread.start()
    thread.join()
else:
    exec(compile("naïve(Model())", "a\\nb☃.py", "exec"))
print("end")
"""


def test_stacks_are_lines_of_python(tmp_path):
    """Calls that are in torch show the lines of the program, and of torch the innermost one at most."""
    file = tmp_path / "modell.py"
    file.write_text(LINES[1:], encoding="utf-8")
    for how in ("exec", "thread"):
        findings = tmp_path / how
        done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", str(file), how],
                              env={**variables_of_programs(), **SANITIZED, "ADVANCE_STEP_SANITIZE_FILE": str(findings)},
                              capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "end\n"), done.stderr
        text = done.stderr[done.stderr.index("advance_step sanitizer:"):done.stderr.index("advance_step sanitizer: 1 finding")]
        assert len(text.splitlines()) <= 15
        # In exec a frame of the line with a name of other characters follows, in the thread those of threading.
        assert f"  aten::add_.Tensor queued by\n      {file}:13 in Model.forward\n      {file}:19 in naïve\n" in text
        assert f"      {file}:21 in naïve\n" in text
        assert ("      a?b☃.py:1 in <module>\n" in text) == (how == "exec")
        stacks = json.loads(findings.read_text(encoding="utf-8").splitlines()[0])["stacks"]
        assert stacks["first"][0] == f"{file}:13 in Model.forward"
        assert any("libtorch" in frame for frame in stacks["first"])


@pytest.mark.parametrize("mode, queue, name", [("1", "1", "aten::add_.Tensor"), ("aclnn", "1", "aclnnInplaceAdd"),
                                                ("aclnn", "2", "aclnnInplaceAdd")])
def test_lines_are_of_the_call_and_not_of_torch_npus_queue(program, mode, queue, name):
    calls = "\nprint(__import__('os').environ['TASK_QUEUE_ENABLE'])\nuse(lambda a: None)"
    done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", "-c", USE + calls],
                          env={**variables_of_programs(), **SANITIZED, "ADVANCE_STEP_HOST_OPERATORS": mode,
                               "TASK_QUEUE_ENABLE": queue}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "0\n"), done.stderr
    assert f"  {name} queued by\n      <string>:9 in use\n      <string>:16 in <module>\n" in done.stderr
    # Without the sanitizer the queue is what the program has chosen.
    assert program.run("-c", "import os, torch_npu\nprint(os.environ['TASK_QUEUE_ENABLE'])",
                       TASK_QUEUE_ENABLE=queue).stdout == f"{queue}\n"


# What a collective gives is written, also with gaps; DistributedDataParallel measures steps that nobody reads.
RANKS = """
import torch, torch_npu
import torch.distributed as dist
dist.init_process_group("hccl")
npu = torch.device("npu")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8).npu())
model(torch.ones(4, 8, device=npu)).square().sum().backward()
got = torch.empty(2, 3, device=npu)
dist.all_gather_into_tensor(got, torch.full((1, 3), float(rank), device=npu), async_op=True).wait()
with torch.npu.stream(torch.npu.Stream()):
    assert got.sum().item() == 3
received = torch.empty(5, device=npu)
if rank == 0:
    dist.send(torch.ones(5, device=npu), 1)
else:
    dist.recv(received, 0)
    assert received.cpu().sum() == 5
wide = torch.full((4, 6), float(rank), device=npu)[:, ::2]
dist.broadcast(wide, 1)
assert wide.cpu().sum() == 12
dist.destroy_process_group()
print("end", flush=True)
"""


def test_collectives_write_their_results(tmp_path):
    file = tmp_path / "ranks.py"
    file.write_text(RANKS[1:], encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", "-m", "torch.distributed.run", "--standalone",
                           "--nproc-per-node", "2", str(file)],
                          env={**variables_of_programs(), **SANITIZED}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "end\nend\n"), done.stderr
    assert "advance_step sanitizer" not in done.stderr


def test_findings_of_other_lines_are_others_and_lines_are_suppressed(program, tmp_path):
    calls = "\nuse(lambda a: None)\nuse(lambda a: None)\nfor _ in range(2): use(lambda a: None)"
    done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", "-c", USE + calls],
                          env={**variables_of_programs(), **SANITIZED}, capture_output=True, text=True)
    assert "advance_step sanitizer: 4 findings at 3 places\n  2 times: race" in done.stderr, done.stderr
    suppressions = tmp_path / "suppressions"
    suppressions.write_text("use\n", encoding="utf-8")
    done = program.run("-c", USE + calls, **SANITIZED, ADVANCE_STEP_SANITIZE_SUPPRESSIONS=str(suppressions))
    assert "sanitizer" not in done.stderr


RIGHT = USE + """
import copy
from torch import nn
use(lambda a: a.record_stream(side))
use(lambda a: side.synchronize())
use(lambda a: torch.npu.current_stream().wait_stream(side))

# Operators that run at once, although nothing runs so by itself under the sanitizer.
assert torch.rand(5, device="npu").cpu().numel() == 5
assert torch.nonzero(torch.ones(5, device="npu")).cpu().numel() == 5
assert torch.ones(3, 4).t().npu().t().half().cpu().sum() == 12
assert torch.tensor([1, 2, 3]).npu().to("npu:1").sum().item() == 6
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.1)).npu()
nn.DataParallel(copy.deepcopy(model), [0, 1])(torch.randn(7, 6).npu()).square().sum().backward()

# out= is written, and not read, also by a graph.
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    numbers = torch.arange(10, device="npu")
graph.replay()
assert numbers.cpu().sum() == 45
print("end")
"""


def test_right_programs_have_no_finding(program):
    done = program.run("-c", RIGHT, **SANITIZED)
    assert done.stdout == "end\n" and "sanitizer" not in done.stderr


def test_an_allocator_that_caches_nothing_ends_with_tensors(program):
    """torch_npu frees those that are left after it has ended the runtime."""
    done = program.run("-c", USE + "use(lambda a: None)\nleft = {'a': [torch.ones(7, device='npu', requires_grad=True)]}\n"
                       "left['a'][0].sum().backward()\nprint(left['a'][0].grad.sum().item())",
                       PYTORCH_NO_NPU_MEMORY_CACHING="1", **SANITIZED)
    assert done.stdout == "7.0\n" and "sanitizer" not in done.stderr
