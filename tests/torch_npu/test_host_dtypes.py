# SPDX-License-Identifier: Apache-2.0
"""Dtypes that torch's kernels for "cpu" refuse and an NPU's take: half precision, indices of int32.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import pytest
import torch
import torch_npu  # noqa: F401
from pending import begin, hold, native  # noqa: F401

functional = torch.nn.functional
LENGTHS = (torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2]))


def spd(tensor):
    """Returns a matrix with an inverse."""
    return tensor @ tensor.mT + torch.eye(4, dtype=tensor.dtype, device=tensor.device) * 4


HALF = {
    "cdist": lambda x: torch.cdist(x, x * 2 + 1),
    "pdist": torch.pdist,
    "avg_pool3d": lambda x: functional.avg_pool3d(x.view(1, 1, 4, 2, 2), 2),
    "inverse": lambda x: torch.inverse(spd(x)),
    "cholesky": lambda x: torch.linalg.cholesky(spd(x)),
    "ctc_loss": lambda x: functional.ctc_loss(
        torch.cat((x, x[:1])).unsqueeze(1).log_softmax(-1), LENGTHS[0].to(x.device), *LENGTHS[1:]),
}


def given(dtype):
    torch.manual_seed(2)
    return torch.randn(4, 4).to(dtype)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16), ids=str)
@pytest.mark.parametrize("name", HALF)
def test_half_precision_is_computed_in_float32(name, dtype, begin):  # noqa: F811
    narrow = given(dtype)
    for _ in range(2):
        there, here = narrow.npu().requires_grad_(), narrow.float().requires_grad_()
        found, expected = HALF[name](there), HALF[name](here)
        assert found.dtype == dtype
        assert torch.allclose(found.cpu().float(), expected, rtol=0.05, atol=0.05)
        found.sum().backward()
        expected.sum().backward()
        assert torch.allclose(there.grad.cpu().float(), here.grad, rtol=0.1, atol=0.1)


@native
@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16), ids=str)
def test_half_precision_in_a_graph(dtype):
    calls = [HALF["cdist"], HALF["pdist"], HALF["avg_pool3d"],
             lambda x: torch.linalg.inv_ex(spd(x)).inverse, lambda x: torch.linalg.cholesky_ex(spd(x)).L]
    there, graph = given(dtype).npu(), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        results = [call(there) for call in calls]
    there.copy_(given(dtype) / 2)
    graph.replay()
    expected = [call((given(dtype) / 2).npu()) for call in calls]
    assert all(torch.equal(one.cpu(), other.cpu()) for one, other in zip(results, expected))


@native
def test_half_precision_of_a_large_queued_call():
    """No trial has so much memory, so the run itself finds the refusal."""
    given = torch.ones(1, 1, 128, 128, 256, dtype=torch.bfloat16)
    hold(20)
    found = functional.avg_pool3d(given.npu(), 2)
    assert found.dtype == torch.bfloat16 and torch.equal(found.cpu(), torch.ones(1, 1, 64, 64, 128).bfloat16())


def test_outputs_of_half_precision():
    there = spd(given(torch.float16)).npu()
    expected = torch.inverse(there)
    for shape in ((4, 4), (0,)):
        out = torch.empty(shape, dtype=torch.float16, device="npu")
        assert torch.linalg.inv(there, out=out) is out and torch.equal(out, expected)


def test_what_float32_has_not_is_refused_as_on_cpu(begin):  # noqa: F811
    for dtype in (torch.float16, torch.bfloat16):
        with pytest.raises(NotImplementedError, match="not implemented for '(Half|BFloat16)'"):
            torch.ones(3, dtype=dtype).npu().bitwise_and(torch.ones(3, dtype=dtype).npu())
    with pytest.raises(RuntimeError, match="dtype"):
        torch.ones(3, 3).half().npu() @ torch.ones(3, 3).npu()
    torch.npu.synchronize()


LABELS = {
    "cross_entropy": lambda x, t: functional.cross_entropy(x, t),
    "nll_loss": lambda x, t: functional.nll_loss(x.log_softmax(1), t, torch.ones(5).to(x.device)),
    "nll_loss2d": lambda x, t: functional.nll_loss(x.view(1, 5, 2, 2), t.view(1, 2, 2)),
    "gather": lambda x, t: x.gather(1, t.view(4, 1)),
    "take": lambda x, t: x.take(t),
    "scatter": lambda x, t: x.scatter(1, t.view(4, 1), 5.),
    "index_fill": lambda x, t: x.index_fill(1, t, 5.),
    "index_copy": lambda x, t: x.index_copy(1, t, x.detach()[:, :4]),
    "multi_margin_loss": lambda x, t: functional.multi_margin_loss(x, t),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_and_indices_of_int32(name, begin):  # noqa: F811
    labels = torch.tensor([1, 0, 4, 2]).npu()
    torch.manual_seed(2)
    given = torch.randn(4, 5)
    results = []
    for each in (labels, labels.int()):
        there = given.npu().requires_grad_()
        result = LABELS[name](there, each)
        result.sum().backward()
        results.append((result.detach().cpu(), there.grad.cpu()))
    assert all(map(torch.equal, *results))


@pytest.mark.parametrize("name", ("_foreach_addcdiv", "_foreach_addcmul"))
def test_scalars_of_lists_are_on_cpu(name, begin):  # noqa: F811
    ones, twos = [torch.ones(3, device="npu") for _ in range(2)], [torch.full((3,), 2., device="npu")] * 2
    scalars = torch.tensor([0.5, 4])
    expected = [tensor.tolist() for tensor in getattr(torch, name)(
        [tensor.cpu() for tensor in ones], *[[tensor.cpu() for tensor in twos]] * 2, scalars)]
    assert [tensor.tolist() for tensor in getattr(torch, name)(ones, twos, twos, scalars)] == expected
    getattr(torch, name + "_")(ones, twos, twos, scalars)
    assert [tensor.tolist() for tensor in ones] == expected
    with pytest.raises(RuntimeError, match="Expected scalars to be on CPU, got npu:0 instead"):
        getattr(torch, name)(ones, twos, twos, scalars.npu())
