# SPDX-License-Identifier: Apache-2.0
"""Programs of torch under ADVANCE_STEP_SANITIZE, each in a process of its own."""

import subprocess
import sys

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
