# SPDX-License-Identifier: Apache-2.0
"""npu_fusion_attention in its versions, and its gradients, against plain formulas in float64."""

import llm_reference as reference
import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import HEADS, SCALE, TRIANGLE, Case, near, random

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
VERSIONS = {"1": torch_npu.npu_fusion_attention, "2": torch_npu.npu_fusion_attention_v2,
            "3": torch_npu.npu_fusion_attention_v3}


def plain(q, k, v, hidden, bias=0):
    """[N, Sq, D] and [Nk, Sk, D] in float64, for the gradients."""
    group = q.shape[0] // k.shape[0]
    scores = SCALE * (q @ k.repeat_interleave(group, 0).transpose(1, 2) + bias)
    return torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ v.repeat_interleave(group, 0)


def check_training(case, layout, hidden, operator, **options):
    """Compares the result and the gradients; hidden[request] is [Sq, Sk]."""
    npu = [tensor.requires_grad_() for tensor in case.in_layout(layout)]
    results = operator(*npu, HEADS, layout, scale=SCALE, **options)
    wanted = case.expected(lambda request, _, row, column: hidden[request][row, column])[0]
    near(results[0], reference.in_layout(wanted, layout), case.dtype)
    weights = [random(*out.shape, seed=40 + row) for row, out in enumerate(wanted)]
    results[0].backward(torch.tensor(np.ascontiguousarray(reference.in_layout(
        [w.numpy() for w in weights], layout))).to(case.dtype).npu())
    gradients = [[], [], []]
    for row, weight in enumerate(weights):
        cpu = [tensors[row].double().requires_grad_() for tensors in case.tensors]
        out = plain(*(tensor.transpose(0, 1) for tensor in cpu), hidden[row])
        out.transpose(0, 1).backward(weight.double())
        for list_, tensor in zip(gradients, cpu):
            list_.append(tensor.grad.numpy())
    for tensor, wanted in zip(npu, gradients):
        near(tensor.grad, reference.in_layout(wanted, layout), case.dtype)
    return results


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("layout", ("BSH", "SBH", "BSND", "BNSD"))
def test_training(layout, version):
    mask = torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(3)) < 0.4
    mask[..., 0] = False
    results = check_training(Case(), layout, [m[0] for m in mask], VERSIONS[version],
                             atten_mask=mask.npu())
    assert tuple(results[1].shape) == tuple(results[2].shape) == (2, HEADS, 5, 8)
    assert results[1].dtype == torch.float32 and len(results) == (6 if version == "3" else 7)


def test_training_in_other_types():
    for dtype in (torch.bfloat16, torch.float16):
        check_training(Case(dtype=dtype), "BSH", [torch.zeros(5, 7, dtype=torch.bool)] * 2,
                       torch_npu.npu_fusion_attention)


@pytest.mark.parametrize("mode, hides", ((2, lambda r, c, _: c > r), (3, lambda r, c, d: c > r + d)))
def test_training_of_different_lengths(mode, hides):
    queries, keys = (2, 5, 1), (4, 6, 3)
    hidden = [torch.tensor([[hides(r, c, k - q) for c in range(k)] for r in range(q)])
              for q, k in zip(queries, keys)]
    check_training(Case(queries, keys), "TND", hidden, torch_npu.npu_fusion_attention, sparse_mode=mode,
                   atten_mask=TRIANGLE.npu(), actual_seq_qlen=[2, 7, 8], actual_seq_kvlen=[4, 10, 13])


def test_training_softmax_and_position_bias():
    case = Case(kv_heads=4)
    bias = random(1, HEADS, 5, 7, seed=77)
    npu = bias.npu().requires_grad_()
    out, maximum, total = torch_npu.npu_fusion_attention(*case.in_layout("BNSD"), HEADS, "BNSD", pse=npu,
                                                         scale=SCALE)[:3]
    cpu = bias.double().requires_grad_()
    wanted = torch.stack([plain(*(tensors[row].double().transpose(0, 1) for tensors in case.tensors),
                                torch.zeros(5, 7, dtype=torch.bool), cpu[0]) for row in range(2)])
    near(out, wanted.detach().numpy())
    out.sum().backward()
    wanted.sum().backward()
    near(npu.grad, cpu.grad.numpy())
    q, k = (torch.stack(t).double().transpose(1, 2) for t in case.tensors[:2])
    scores = SCALE * (q @ k.transpose(2, 3) + bias)
    near(maximum[..., 0], scores.amax(-1).numpy())
    near(total[..., 7], torch.exp(scores - scores.amax(-1, keepdim=True)).sum(-1).numpy())


@native
def test_training_in_a_graph():
    query = random(1, 4, 16).npu().requires_grad_()
    graph = torch.npu.NPUGraph()
    step = lambda: torch.autograd.grad(torch_npu.npu_fusion_attention(  # noqa: E731
        query, query, query, 2, "BSH", scale=SCALE)[0].square().sum(), query)[0]
    wanted = step().cpu()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        found = step()
    graph.replay()
    assert torch.equal(found.cpu(), wanted)


@pytest.mark.parametrize("name, value", (
    ("keep_prob", 0.5), ("padding_mask", torch.ones(1)), ("prefix", [1]), ("sink", torch.ones(4)),
    ("sparse_mode", 6), ("pse", torch.ones(3))))
def test_what_training_does_not_support_is_named(name, value):
    options = {"atten_mask": torch.zeros(5, 7, dtype=torch.bool).npu(),
               name: value.npu() if isinstance(value, torch.Tensor) else value}
    with pytest.raises((ValueError, NotImplementedError), match=f"^npu_fusion_attention: {name} is "):
        torch_npu.npu_fusion_attention(*Case().in_layout("BSND"), HEADS, "BSND", **options)
