# SPDX-License-Identifier: Apache-2.0
"""Mixture of experts: the choice of experts, rows in their order, products, and the way back.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import TYPES, near, random
from llm_custom import ops

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
EXPERTS = [[3, 0], [1, 3], [0, 2], [5, 1]]  # of each token


def chosen(x, k, k_group, groups, mode, renorm, norm, factor, bias):
    """Returns weights, experts and scores by loops."""
    rows = x.double().numpy()
    weights, experts, scores = [], [], []
    for row in rows:
        score = (np.exp(row) / np.exp(row).sum() if norm == 0 else 1 / (1 + np.exp(-row)) if norm == 1
                 else np.sqrt(np.log(1 + np.exp(row))))
        choice = score + (bias.double().numpy() if bias is not None else 0)
        size = len(row) // groups
        rates = [sorted(choice[g * size:(g + 1) * size])[-(1 if mode == 0 else 2):] for g in range(groups)]
        best = sorted(range(groups), key=lambda g: -sum(rates[g]))[:k_group]
        seen = [e for e in range(len(row)) if e // size in best]
        taken = sorted(seen, key=lambda e: -choice[e])[:k]
        weight = score[taken]
        if norm == 1 or renorm == 1:
            weight = weight / weight.sum()
        weights.append(weight * factor)
        experts.append(taken)
        scores.append(score)
    return np.array(weights), np.array(experts), np.array(scores)


@pytest.mark.parametrize("k_group, groups, mode", ((1, 1, 0), (2, 4, 0), (2, 4, 1)))
@pytest.mark.parametrize("norm, renorm, with_bias", ((0, 0, False), (0, 1, False), (1, 0, True)))
def test_gating(k_group, groups, mode, norm, renorm, with_bias):
    x, bias = random(6, 8), random(8, seed=1) if with_bias else None
    wanted = chosen(x, 3, k_group, groups, mode, renorm, norm, 1.5, bias)
    weights, experts, scores = ops.moe_gating_top_k(x.npu(), 3, k_group, groups, mode, renorm, norm, True, 1.5,
                                                    1e-20, bias.npu() if with_bias else None)
    near(weights, wanted[0])
    assert experts.dtype == torch.int32 and np.array_equal(experts.cpu(), wanted[1])
    near(scores, wanted[2])


@pytest.mark.parametrize("norm", (0, 1, 2))
def test_gating_with_other_scores(norm):
    x, bias = random(6, 8), random(8, seed=1)
    wanted = chosen(x, 3, 2, 4, 1, 0, norm, 1.5, bias)
    weights, experts, scores = ops.moe_gating_top_k_hash(
        x.npu(), 3, bias.npu(), k_group=2, group_count=4, routed_scaling_factor=1.5, group_select_mode=1,
        norm_type=norm, out_flag=True)
    near(weights, wanted[0])
    assert np.array_equal(experts.cpu(), wanted[1])
    near(scores, wanted[2])


def test_gating_by_a_table():
    x, table, tokens = random(4, 8), torch.tensor([[1, 2, 7], [5, 0, 3], [4, 6, 1]]), [2, 0, 2, 1]
    weights, experts, shown = ops.moe_gating_top_k_hash(
        x.npu(), 3, input_ids=torch.tensor(tokens).npu(), tid2eid=table.int().npu(), routed_scaling_factor=2.0,
        norm_type=2)
    assert experts.dtype == torch.int32 and experts.tolist() == table[tokens].tolist() and shown.shape == (0,)
    near(weights, 2 * np.take_along_axis(np.sqrt(np.log(1 + np.exp(x.double().numpy()))), table[tokens].numpy(), 1))
    meta = ops.moe_gating_top_k_hash(x.to("meta"), 3, norm_type=2)
    assert [tuple(t.shape) for t in meta] == [(4, 3), (4, 3), (0,)]


def test_gating_of_torch_npu():
    x, bias = random(6, 8), random(8, seed=1)
    wanted = chosen(x, 3, 2, 4, 1, 0, 1, 2.5, bias)
    weights, experts, _ = torch_npu.npu_moe_gating_top_k(
        x.npu(), 3, bias=bias.npu(), k_group=2, group_count=4, group_select_mode=1, norm_type=1,
        routed_scaling_factor=2.5)
    near(weights, wanted[0])
    assert np.array_equal(experts.cpu(), wanted[1])
    finished = torch.tensor([False, True, False, False, False, False])
    weights, experts, rows = torch_npu.npu_moe_gating_top_k_softmax(x.npu(), finished.npu(), 2)
    wanted = chosen(x, 2, 1, 1, 0, 0, 0, 1.0, None)
    wanted[1][1] = 8
    near(weights, wanted[0])
    assert np.array_equal(experts.cpu(), wanted[1])
    assert rows.tolist() == [[token, token + 6] for token in range(6)]


def routed(low, high):
    """Returns the (token, place among its experts) in the order of the active experts, then the others."""
    pairs = [(token, k) for token in range(len(EXPERTS)) for k in range(2)]
    active = [pair for pair in pairs if low <= EXPERTS[pair[0]][pair[1]] < high]
    active.sort(key=lambda pair: EXPERTS[pair[0]][pair[1]])
    return active, [pair for pair in pairs if pair not in active]


@pytest.mark.parametrize("operator", (ops.npu_moe_init_routing_custom, torch_npu.npu_moe_init_routing_v2))
@pytest.mark.parametrize("low, high", ((0, 6), (1, 4)))
@pytest.mark.parametrize("counts", (True, False))
def test_init_routing(operator, low, high, counts):
    x, active = random(4, 8), routed(low, high)[0]
    given = dict(active_num=8, expert_num=6, expert_tokens_num_type=int(counts), expert_tokens_num_flag=True,
                 quant_mode=-1, active_expert_range=[low, high])
    experts = torch.tensor(EXPERTS, dtype=torch.int32).npu()
    rows, places, tokens, _ = operator(x.npu(), experts, row_idx_type=0, **given)
    assert torch.equal(rows.cpu()[:len(active)], torch.stack([x[token] for token, _ in active]))
    assert places.tolist() == [active.index((t, k)) if (t, k) in active else -1 for t in range(4) for k in range(2)]
    lengths = [sum(expert == e for row in EXPERTS for e in row) for expert in range(low, high)]
    assert tokens.tolist() == (lengths if counts else np.cumsum(lengths).tolist())
    _, places, _, _ = operator(x.npu(), experts, row_idx_type=1, **given)
    assert places.tolist()[:len(active)] == [2 * token + k for token, k in active]


def test_init_routing_quantizes_and_takes_scales_along():
    x, experts = random(4, 8), torch.tensor(EXPERTS, dtype=torch.int32).npu()
    given = dict(active_num=8, expert_num=6, expert_tokens_num_flag=True, active_expert_range=[0, 6])
    rows, _, _, scales = ops.npu_moe_init_routing_custom(x.npu(), experts, quant_mode=1, **given)
    wanted = torch.stack([x[token] for token, _ in routed(0, 6)[0]])
    near(scales, wanted.abs().amax(1) / 127)
    assert rows.dtype == torch.int8
    assert (rows.cpu() * scales.cpu()[:, None] - wanted).abs().max() <= scales.max().item() * 0.51
    scale = random(4, seed=1)
    _, _, _, scales = ops.npu_moe_init_routing_custom(x.npu(), experts, scale=scale.npu(), quant_mode=-1, **given)
    near(scales, np.array([scale[token] for token, _ in routed(0, 6)[0]]))


LENGTHS = [2, 0, 3]


def products(x, weights, lengths, columns):
    y, row = np.zeros((len(x), columns)), 0
    for weight, length in zip(weights, lengths):
        for _ in range(length):
            y[row] = x[row].astype(np.float64) @ weight.astype(np.float64)
            row += 1
    return y


@pytest.mark.parametrize("one", (True, False))
@pytest.mark.parametrize("counts", (True, False))
def test_grouped_matmul(one, counts):
    for dtype in TYPES:
        x, weight = random(6, 8, dtype=dtype), random(3, 8, 4, seed=1, dtype=dtype)
        groups = torch.tensor(LENGTHS if counts else np.cumsum(LENGTHS)).npu()
        y, = torch_npu.npu_grouped_matmul(
            [x.npu()], [weight.npu()] if one else [w.contiguous().npu() for w in weight], group_list=groups,
            split_item=2, group_type=0, group_list_type=int(counts))
        near(y, products(x.float().numpy(), weight.float().numpy(), LENGTHS, 4), dtype)


def test_grouped_matmul_of_int8_with_bias_and_scales():
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-128, 128, (6, 8), dtype=torch.int8, generator=generator)
    weight = torch.randint(-128, 128, (3, 8, 4), dtype=torch.int8, generator=generator)
    scale, rows = random(3, 4, seed=1).abs(), random(6, seed=2).abs()
    y, = torch_npu.npu_grouped_matmul(
        [x.npu()], [weight.npu()], scale=[scale.npu()], per_token_scale=[rows.npu()],
        group_list=torch.tensor(LENGTHS).npu(), split_item=2, group_type=0, group_list_type=1,
        output_dtype=torch.float32)
    wanted = products(x.numpy(), weight.numpy() * scale.numpy()[:, None], LENGTHS, 4) * rows.numpy()[:, None]
    np.testing.assert_allclose(y.cpu().numpy(), wanted, rtol=1e-5)


@native
def test_a_graph_multiplies_by_groups_that_come_later():
    x, weight = random(6, 8), random(3, 8, 4, seed=1)
    npu, matrices, groups = x.npu(), weight.npu(), torch.tensor([6, 0, 0]).npu()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y, = torch_npu.npu_grouped_matmul([npu], [matrices], group_list=groups, split_item=2, group_type=0,
                                          group_list_type=1)
    groups.copy_(torch.tensor(LENGTHS))
    graph.replay()
    near(y, products(x.numpy(), weight.numpy(), LENGTHS, 4))


@pytest.mark.parametrize("weighed", (True, False))
def test_token_unpermute(weighed):
    rows, places = random(6, 8), [4, -1, 0, 2, 5, 1]
    probs = random(3, 2, seed=1) if weighed else None
    wanted = np.zeros((3 if weighed else 6, 8))
    for number, place in enumerate(places):
        if place >= 0:
            token, k = divmod(number, 2) if weighed else (number, 0)
            wanted[token] += rows[place].double().numpy() * (probs[token, k].item() if weighed else 1)
    near(torch_npu.npu_moe_token_unpermute(rows.npu(), torch.tensor(places, dtype=torch.int32).npu(),
                                           probs.npu() if weighed else None), wanted)


X, W = torch.ones(4, 8), torch.ones(3, 8, 4)
E, G = torch.zeros(4, 2, dtype=torch.int32), torch.tensor([1, 1, 2])


def grouped(x=X, weight=W, groups=G, **options):
    return torch_npu.npu_grouped_matmul([x.npu()], [weight.npu()], group_list=groups.npu() if groups is not None
                                        else None, split_item=2, **{"group_type": 0, **options})


@pytest.mark.parametrize("call, text", (
    (lambda: ops.moe_gating_top_k_hash(torch.ones(4, 8).npu(), 3, norm_type=3), "norm_type is 3"),
    (lambda: ops.moe_gating_top_k_hash(torch.ones(4, 8).npu(), 3, input_ids=torch.zeros(4).npu()), "tid2eid is None"),
    (lambda: ops.moe_gating_top_k(X.npu(), 9, 1, 1, 0, 0, 0, False, 1.0, 0.0), "k is 9"),
    (lambda: ops.moe_gating_top_k(X.npu(), 2, 1, 3, 0, 0, 0, False, 1.0, 0.0), "k_group is 1"),
    (lambda: ops.moe_gating_top_k(X.npu(), 2, 1, 1, 0, 0, 2, False, 1.0, 0.0), "norm_type is 2"),
    (lambda: ops.moe_gating_top_k(X.npu(), 2, 1, 1, 0, 0, 0, False, 1.0, 0.0, X.npu()), "bias is"),
    (lambda: ops.npu_moe_init_routing_custom(X.npu(), E[:3].npu(), quant_mode=-1, expert_num=3), "expert_idx is"),
    (lambda: ops.npu_moe_init_routing_custom(X.npu(), E.npu(), expert_num=3), "quant_mode is 0"),
    (lambda: ops.npu_moe_init_routing_custom(X.npu(), E.npu(), quant_mode=-1, expert_num=3,
                                             active_expert_range=[2, 4]), "active_expert_range is"),
    (lambda: grouped(groups=None), "group_list is None"),
    (lambda: grouped(groups=G[:2]), "group_list is"),
    (lambda: grouped(group_type=2), "group_type is 2"),
    (lambda: torch_npu.npu_moe_token_unpermute(X.npu(), G.int().npu(), X[:, :2].npu()), "sorted_indices is"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^[a-z_0-9]+: {text}"):
        call()
