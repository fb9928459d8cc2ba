# SPDX-License-Identifier: Apache-2.0
"""Calls that torch's kernels for "cpu" refuse and those for "meta" do not, raised by the call.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import pytest
import torch
from pending import begin, hold, native  # noqa: F401

functional = torch.nn.functional


def tensors(device):
    return (torch.ones(3, 3, device=device), torch.ones(3, 3, dtype=torch.int64, device=device),
            torch.zeros(1, dtype=torch.int64, device=device))


DTYPES = {
    "mm": lambda real, whole, index: real @ whole,
    "bmm": lambda real, whole, index: torch.bmm(real[None], real[None].half()),
    "linear": lambda real, whole, index: functional.linear(real, real.half()),
    "convolution": lambda real, whole, index: functional.conv2d(
        real[None, None], real[None, None].double()),
    "bitwise": lambda real, whole, index: real & real,
    "softmax": lambda real, whole, index: torch.softmax(whole, 0),
    "topk": lambda real, whole, index: torch.topk(real.to(torch.complex64), 1),
    "sort": lambda real, whole, index: torch.sort(real.to(torch.complex64)),
    "index_put_": lambda real, whole, index: real.clone().index_put_((index,), real[0].double()),
    "grid_sample": lambda real, whole, index: functional.grid_sample(
        real[None, None], torch.zeros(1, 2, 2, 2, device=real.device, dtype=torch.float64)),
    "gcd": lambda real, whole, index: torch.gcd(real, real),
    "gcd of 16 bits": lambda real, whole, index: torch.gcd(real.bfloat16(), real.bfloat16()),
    "no elements": lambda real, whole, index: torch.bitwise_not(real[:0].bfloat16()),
    "silu of no elements": lambda real, whole, index: functional.silu(whole[:0]),
    "lu_factor_ex": lambda real, whole, index: torch.linalg.lu_factor_ex(whole),
    "scatter_reduce": lambda real, whole, index: [
        torch.zeros(3, device=real.device).bool().scatter_reduce_(0, index, index.bool(), reduction)
        for reduction in ("amax", "mean")],
    "cross": lambda real, whole, index: torch.linalg.cross(real.bool(), real.bool()),
}
OVERLAPS = {
    "part": lambda real, whole, index: torch.add(real[:2], 1, out=real[1:]),
    "itself": lambda real, whole, index: torch.add(real, 1, out=real[:1].expand(3, 3)),
    "in place": lambda real, whole, index: real[1:].mul_(real[:2]),
}
CALLS = {**DTYPES, **OVERLAPS}


def refusal(call, device):
    given = tensors(device)
    if device == "npu":
        hold(20)
    with pytest.raises(Exception) as refused:
        call(*given)
    return type(refused.value), str(refused.value).splitlines()[0].replace("npu", "cpu")


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_of_cpu_is_raised_by_the_call(name):
    for _ in range(2):
        assert refusal(CALLS[name], "npu")[0] == refusal(CALLS[name], "cpu")[0]
        torch.npu.synchronize()  # and by nothing else


@native
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_of_cpu_ends_a_capture(name):
    given, graph = tensors("npu"), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with pytest.raises(refusal(CALLS[name], "cpu")[0]), torch.npu.graph(graph):
        CALLS[name](*given)
    torch.npu.synchronize()


@native
def test_data_of_a_trial_refuse_no_capture():
    """A trial has zeros, of which nothing can be drawn."""
    given, graph = torch.tensor([0, 1.]).half().npu(), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        drawn = torch.multinomial(given, 1)
    graph.replay()
    assert drawn.tolist() == [1]


def test_operators_of_several_dtypes_run():
    table, index = torch.randn(5, 3), torch.tensor([4, 0])
    for _ in range(2):
        hold(5)
        found = functional.embedding(index.npu(), table.npu())
        inverse = torch.linalg.inv(torch.eye(3, dtype=torch.complex64).npu())
        assert torch.equal(found.cpu(), table[index]) and inverse.cpu()[0, 0].item() == 1
