# SPDX-License-Identifier: Apache-2.0
"""The mode aclnn: torch_npu's own code on CANN's operators, which other modes hide."""

import ctypes
import os

import advance_step.torch_npu as emulated
import pytest
import torch
import torch_npu  # noqa: F401
from advance_step import _cann, _host_operators
from torch.nn import functional as F

ACLNN = _host_operators.mode() == "aclnn"
by_aclnn = pytest.mark.skipif(not ACLNN, reason="needs ADVANCE_STEP_HOST_OPERATORS=aclnn")

A = torch.linspace(-3, 3, 24).reshape(4, 6)
B = torch.linspace(2, -1, 24).reshape(4, 6)
IMAGE = torch.linspace(-1, 1, 128).reshape(1, 2, 8, 8)
CASES = {
    "aclnnAdd": lambda a, b, image: a + b,
    "aclnnAdds": lambda a, b, image: a + 2,
    "aclnnInplaceMul": lambda a, b, image: a.clone().mul_(b),
    "aclnnDiv": lambda a, b, image: a / b,
    "aclnnMatmul": lambda a, b, image: a @ b.t(),
    "aclnnMm": lambda a, b, image: torch.mm(a, b.t()),
    "aclnnGtTensor": lambda a, b, image: a > b,
    "aclnnReduceSum": lambda a, b, image: a.sum(dim=1),
    "aclnnMean": lambda a, b, image: a.mean(dim=0, keepdim=True),
    "aclnnSoftmax": lambda a, b, image: a.softmax(dim=-1),
    "aclnnSilu": lambda a, b, image: F.silu(a),
    "aclnnCat": lambda a, b, image: torch.cat([a, b[:, ::2]], dim=1),
    "aclnnTopk": lambda a, b, image: torch.topk(a, 3, dim=1).values,
    "aclnnTril": lambda a, b, image: torch.tril(b),
    "aclnnConvolution": lambda a, b, image: F.conv2d(image, image.flip(0)[:, :, :3, :3]),
    "aclnnAvgPool2d": lambda a, b, image: F.avg_pool2d(image, 2),
    "aclnnUpsampleBilinear2d": lambda a, b, image: F.interpolate(image, scale_factor=2, mode="bilinear"),
    "aclnnIndexSelect": lambda a, b, image: a.index_select(1, torch.tensor([2, 0], device=a.device)),
}


@by_aclnn
@pytest.mark.parametrize("function", CASES)
def test_an_operator_calls_the_function(function):
    arguments = [tensor.npu() for tensor in (A, B, IMAGE)]
    before = emulated.aclnn_calls(function)
    found = CASES[function](*arguments)
    torch.npu.synchronize()
    assert emulated.aclnn_calls(function) > before
    assert torch.equal(found.cpu(), CASES[function](A, B, IMAGE))


@by_aclnn
def test_gradients():
    def gradients(device):
        a, b = A.to(device).requires_grad_(), B.to(device).requires_grad_()
        loss = F.silu((a @ b.t()).relu() * 0.5).log_softmax(dim=1).sum()
        return [gradient.cpu() for gradient in torch.autograd.grad(loss, [a, b])]

    before = emulated.aclnn_calls("aclnnSiluBackward")
    found = gradients("npu")
    assert emulated.aclnn_calls("aclnnSiluBackward") == before + 1
    assert all(map(torch.equal, found, gradients("cpu")))


@by_aclnn
def test_a_graph_replays_the_calls():
    a, b = A.npu(), B.npu()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = (a * b + 1).relu() @ b.t()
    calls = emulated.aclnn_calls()
    for scale in (1, -2, 3):
        a.copy_(A * scale)
        graph.replay()
        assert torch.equal(result.cpu(), (A * scale * B + 1).relu() @ B.t())
    assert emulated.aclnn_calls("aclnnMul") > 0
    assert emulated.aclnn_calls() == calls  # a replay calls none


@by_aclnn
def test_an_operator_without_a_function_runs_by_torchs_kernel():
    a = A.npu().abs()
    torch.npu.synchronize()
    before = emulated.aclnn_calls()
    assert "aten::histc" not in " ".join(emulated.aclnn_operators())
    assert torch.equal(torch.histc(a, 4, 0, 3).cpu(), torch.histc(A.abs(), 4, 0, 3))
    assert torch.equal(torch.nonzero(a > 1).cpu(), torch.nonzero(A.abs() > 1))
    assert emulated.aclnn_calls() == before + 1  # the comparison


@by_aclnn
def test_both_kinds_take_turns():
    a, expected = A.npu(), A
    for _ in range(50):
        a = torch.erfinv((a + 0.1).tanh() * 0.9)  # erfinv has no function
        expected = torch.erfinv((expected + 0.1).tanh() * 0.9)
    assert torch.equal(a.cpu(), expected)


def test_names_of_the_table_are_operators():
    from advance_step import _aclnn_table

    for name in _aclnn_table.names():
        base, overload = name.rsplit(".", 1)
        assert overload in getattr(torch.ops.aten, base).overloads(), name
    assert len(emulated.aclnn_operators()) == (len(_aclnn_table.names()) if ACLNN else 0)


def test_torch_npu_finds_the_names_in_the_mode_aclnn_only():
    for name in _cann.OPERATORS:  # by name, as torch_npu looks for them
        assert hasattr(ctypes.CDLL(name), "aclnnAdd") == ACLNN
    assert hasattr(ctypes.CDLL("libopapi.so"), "aclnnAdvanceStep")


FIRST = """
import torch_npu
import ctypes
print([hasattr(ctypes.CDLL(name), "aclnnAdd") for name in ("libopapi.so", "libopapi_math.so")])
"""


@pytest.mark.skipif(ACLNN, reason="the same in each mode")
@pytest.mark.parametrize("mode", ["0", "1", "aclnn"])
def test_a_program_with_set_env_finds_them_in_that_mode_only(program, mode):
    home = _cann.prefix()
    done = program.code(FIRST, launcher=(), ASCEND_HOME_PATH=str(home), ASCEND_OPP_PATH=str(home / "opp"),
                        LD_LIBRARY_PATH=str(home / "lib64"), ADVANCE_STEP_LOG="off",
                        ADVANCE_STEP_MEMORY=os.environ.get("ADVANCE_STEP_MEMORY"),
                        ADVANCE_STEP_HOST_OPERATORS=mode)
    assert done.stdout.splitlines()[-1] == str([mode == "aclnn"] * 2)
