# SPDX-License-Identifier: Apache-2.0
"""The mode aclnn: operators of language models of the namespace `npu`, by torch_npu's own code."""

import advance_step.torch_npu as emulated
import pytest
import torch
import torch_npu  # noqa: F401
from advance_step import _aclnn_table, _host_operators

pytestmark = pytest.mark.skipif(_host_operators.mode() != "aclnn", reason="needs ADVANCE_STEP_HOST_OPERATORS=aclnn")

X = torch.linspace(-3, 3, 48).reshape(6, 8).sin()
Y = torch.linspace(2, -1, 48).reshape(6, 8)
GAMMA, BETA = torch.linspace(0.5, 1.5, 8), torch.linspace(-0.2, 0.2, 8)
WHOLE = (torch.arange(48).reshape(6, 8) * 7 % 23 - 11).to(torch.int8)
WEIGHT = (torch.arange(40).reshape(8, 5) * 5 % 17 - 8).to(torch.int8)
SCALES = torch.linspace(0.01, 0.05, 5)
EXPERTS = torch.tensor([[0, 2], [1, 0], [2, 1], [0, 1], [2, 0], [1, 2]], dtype=torch.int32)


def rms(x, gamma=GAMMA):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * gamma


def rounded(x):
    return x.round().clamp(-128, 127).to(torch.int8)


def by_row(x):
    scale = x.abs().amax(-1, keepdim=True) / 127
    return rounded(x / scale), scale.squeeze(-1)


def layer_norm(x):
    return torch.nn.functional.layer_norm(x, (8,), GAMMA, BETA, 1e-5)


def swiglu(x, dim=-1):
    one, other = x.chunk(2, dim)
    return torch.nn.functional.silu(one) * other


def grouped(x, weights, ends):
    return torch.cat([part @ weight for part, weight in zip(x.tensor_split(ends[:-1]), weights)])


def updated(x, rows, updates):
    x = x.clone()
    x[rows] = updates
    return x


def rotated(x, cos, sin):
    """Neighbours become halves before."""
    one, other = x[..., 0::2], x[..., 1::2]
    return torch.cat([one, other], -1) * cos + torch.cat([-other, one], -1) * sin


def sorted_tokens():
    order = EXPERTS.flatten().argsort(stable=True)
    return X[order // 2], order.argsort().to(torch.int32)


HALF = X.half()
PROBS = torch.linspace(0.1, 1.2, 12).reshape(6, 2)
COUNTS = torch.tensor([4, 8, 12], dtype=torch.int32)  # ends of the rows of experts
RANKS = ("group", 1, 0, 3)  # one rank of three experts


def dispatched():
    """Rows in the order of their experts, the place of each pair, and [rank, token, place] of each row."""
    order = EXPERTS.flatten().argsort(stable=True)
    within = order.argsort() - torch.tensor([0, 4, 8])[EXPERTS.flatten().long()]
    triples = torch.zeros(12 * 128, dtype=torch.int32)
    triples[:36] = torch.stack([order * 0, order // 2, order % 2], 1).flatten().int()
    return HALF[order // 2], within.int(), triples


def summed(x=HALF):
    return (x.float() * PROBS.sum(1, keepdim=True)).half()


def finalized():
    weight = torch.stack([WHOLE[:, :5].t().float(), WHOLE[:, 3:].t().float()])  # [2, 5, 6]
    rows = torch.cat([WEIGHT[:2].float() @ weight[0], WEIGHT[2:].float() @ weight[1]]) * 0.02
    return torch.zeros(3, 6).index_add(0, torch.tensor([0, 1, 0, 2, 2, 1, 0, 0]), rows)


def finalize(op, to):
    weight = torch.stack([WHOLE[:, :5].t(), WHOLE[:, 3:].t()]).contiguous()
    return op(to(WEIGHT), to(weight), to(torch.tensor([2, 6])), scale=to(torch.full((2, 6), 0.02)),
              pertoken_scale=to(torch.ones(8)), logit=to(torch.ones(8)),
              row_index=to(torch.tensor([0, 1, 0, 2, 2, 1, 0, 0])), output_bs=3)


# The function that is called; the call; the results.
CASES = {
    "npu_rms_norm": ("RmsNorm", lambda op, to: op(to(X), to(GAMMA))[0], lambda: rms(X)),
    "npu_add_rms_norm": ("AddRmsNorm", lambda op, to: op(to(X), to(Y), to(GAMMA))[::2], lambda: (rms(X + Y), X + Y)),
    "npu_swiglu": ("SwiGlu", lambda op, to: op(to(X)), lambda: swiglu(X)),
    "npu_geglu": ("GeGlu", lambda op, to: op(to(X))[0],
                  lambda: X[:, :4] * torch.nn.functional.gelu(X[:, 4:], approximate="tanh")),
    "npu_gemma_rms_norm": ("GemmaRmsNorm", lambda op, to: op(to(X), to(GAMMA))[0], lambda: rms(X, GAMMA + 1)),
    "npu_add_rms_norm_cast": ("AddRmsNormCast", lambda op, to: op(to(X.half()), to(Y.half()), to(GAMMA.half()))[0],
                              lambda: rms((X.half() + Y.half()).float(), GAMMA.half().float())),
    "npu_add_rms_norm_quant": ("AddRmsNormQuant",
                               lambda op, to: op(to(X.half()), to(Y.half()), to(GAMMA.half()), to(GAMMA / 10), None)[0],
                               lambda: rounded(rms((X.half() + Y.half()).float(), GAMMA.half().float()) / (GAMMA / 10))),
    "npu_add_rms_norm_dynamic_quant": ("AddRmsNormDynamicQuant",
                                       lambda op, to: op(to(X.half()), to(Y.half()), to(GAMMA.half()))[0],
                                       lambda: by_row(rms((X.half() + Y.half()).float(), GAMMA.half().float()))[0]),
    "npu_add_layer_norm": ("AddLayerNorm", lambda op, to: op(to(X), to(Y), to(GAMMA), to(BETA))[0],
                           lambda: layer_norm(X + Y)),
    "npu_deep_norm": ("DeepNorm", lambda op, to: op(to(X), to(Y), to(BETA), to(GAMMA))[2],
                      lambda: torch.nn.functional.layer_norm(X * 0.3 + Y, (8,), GAMMA, BETA, 1e-6)),
    "npu_group_norm_silu": ("GroupNormSilu", lambda op, to: op(to(X[:, :, None]), to(GAMMA), to(BETA), 2)[0],
                            lambda: torch.nn.functional.silu(torch.nn.functional.group_norm(X[:, :, None], 2, GAMMA, BETA))),
    "npu_group_norm_swish": ("GroupNormSwish", lambda op, to: op(to(X[:, :, None]), 2, to(GAMMA), to(BETA))[0],
                             lambda: torch.nn.functional.silu(torch.nn.functional.group_norm(X[:, :, None], 2, GAMMA, BETA))),
    "npu_dynamic_quant": ("DynamicQuant", lambda op, to: op(to(X.half())), lambda: by_row(X.half().float())),
    "npu_quantize": ("Quantize", lambda op, to: op(to(X), to(GAMMA / 20), to(torch.zeros(8)), torch.qint8, 1),
                     lambda: rounded(X / (GAMMA / 20))),
    "npu_group_quant": ("GroupQuant", lambda op, to: op(to(X), to(torch.stack([GAMMA, GAMMA + 1]) * 20),
                                                        to(torch.tensor([2, 6], dtype=torch.int32)), dst_dtype=torch.qint8),
                        lambda: rounded(X * torch.cat([GAMMA.expand(2, 8), (GAMMA + 1).expand(4, 8)]) * 20)),
    "npu_trans_quant_param": ("TransQuantParam", lambda op, to: op(to(SCALES)),
                              lambda: (SCALES.view(torch.int32).long() & 0xFFFFFFFF & ~0x1FFF) | 1 << 46),
    "npu_quant_matmul": ("QuantMatmul", lambda op, to: op(to(WHOLE), to(WEIGHT), to(SCALES), output_dtype=torch.bfloat16),
                         lambda: (WHOLE.float() @ WEIGHT.float() * SCALES).bfloat16()),
    "npu_weight_quant_batchmatmul": ("WeightQuantBatchMatmul",
                                     lambda op, to: op(to(X.half()), to(WEIGHT), to(SCALES.half())),
                                     lambda: (X.half().float() @ (WEIGHT.float() * SCALES.half().float())).half()),
    "npu_grouped_matmul": ("GroupedMatmul",
                           lambda op, to: op([to(X)], [to(Y.t()[None].repeat(2, 1, 1).contiguous())], group_type=0, split_item=3,
                                             group_list=to(torch.tensor([2, 6])))[0],
                           lambda: grouped(X, [Y.t()] * 2, [2, 6])),
    "npu_moe_gating_top_k": ("MoeGatingTopK", lambda op, to: op(to(X), 2)[:2],
                             lambda: (X.softmax(-1).topk(2).values, X.softmax(-1).topk(2).indices.int())),
    "npu_moe_init_routing_v2": ("MoeInitRouting", lambda op, to: op(to(X), to(EXPERTS), active_num=12, expert_num=3,
                                                                    active_expert_range=[0, 3])[:2],
                                lambda: sorted_tokens()),
    "npu_moe_token_permute": ("MoeTokenPermute", lambda op, to: op(to(X.bfloat16()), to(EXPERTS.long())),
                              lambda: (sorted_tokens()[0].bfloat16(), sorted_tokens()[1])),
    "npu_moe_token_unpermute": ("MoeTokenUnpermute",
                                lambda op, to: op(*map(to, (sorted_tokens()[0].bfloat16(), sorted_tokens()[1])),
                                                  probs=to(torch.full((6, 2), 0.5).bfloat16())),
                                lambda: X.bfloat16()),
    "npu_swiglu_quant": ("SwiGluQuant", lambda op, to: op(to(X.half()), quant_mode=1)[0],
                         lambda: by_row(swiglu(X.half().float().roll(4, 1)))[0]),  # the right half is activated
    "npu_clipped_swiglu": ("ClippedSwiglu", lambda op, to: op(to(X), limit=100.0, interleaved=False),
                           lambda: X[:, :4] * torch.sigmoid(1.702 * X[:, :4]) * (X[:, 4:] + 1)),
    "npu_interleave_rope": ("InterleaveRope",
                            lambda op, to: op(*(to(one[:, None, None]) for one in (X, Y, Y + 1))),
                            lambda: rotated(X, Y, Y + 1)[:, None, None]),
    "npu_transpose_batchmatmul": ("TransposeBatchMatMul",
                                  lambda op, to: op(to(X.reshape(2, 3, 8)), to(Y[:3].reshape(3, 8, 1)), perm_x1=[1, 0, 2],
                                                    perm_y=[1, 0, 2]),
                                  lambda: torch.einsum("mbk,bkn->mbn", X.reshape(2, 3, 8), Y[:3].reshape(3, 8, 1))),
    "npu_fused_matmul": ("FusedMatmul", lambda op, to: op(to(HALF), to(Y.half().t().contiguous()), fused_op_type="relu"),
                         lambda: (HALF.float() @ Y.half().float().t()).relu().half()),
    "npu_gelu_mul": ("GeluMul", lambda op, to: op(to(X)), lambda: torch.nn.functional.gelu(X[:, :4]) * X[:, 4:]),
    "npu_grouped_matmul_finalize_routing": ("GroupedMatmulFinalizeRouting", finalize, finalized),
    "npu_moe_distribute_dispatch": ("MoeDistributeDispatch",
                                    lambda op, to: op(to(HALF), to(EXPERTS), *RANKS)[0:3:2], lambda: dispatched()[:2]),
    "npu_moe_distribute_dispatch_v2": ("MoeDistributeDispatch",
                                       lambda op, to: op(to(HALF), to(EXPERTS), *RANKS)[0:3:2], lambda: dispatched()[::2]),
    "npu_moe_distribute_combine": ("MoeDistributeCombine",
                                   lambda op, to: op(to(dispatched()[0]), to(EXPERTS), to(dispatched()[1]), to(COUNTS),
                                                     to(PROBS), *RANKS), summed),
    "npu_moe_distribute_combine_v2": ("MoeDistributeCombine",
                                      lambda op, to: op(to(dispatched()[0]), to(EXPERTS), to(dispatched()[2]), to(COUNTS),
                                                        to(PROBS), *RANKS), summed),
    "npu_moe_distribute_combine_add_rms_norm": (
        "MoeDistributeCombineAddRmsNorm",
        lambda op, to: op(to(dispatched()[0].bfloat16()), to(EXPERTS), to(dispatched()[2]), to(COUNTS), to(PROBS),
                          to(Y[:, None].bfloat16()), to(GAMMA.bfloat16()), *RANKS, norm_eps=1e-6)[0],
        lambda: rms((summed(HALF.bfloat16()).bfloat16() + Y.bfloat16()).float(),
                    GAMMA.bfloat16().float())[:, None].bfloat16()),
    "npu_scatter_nd_update_": ("ScatterNdUpdate", lambda op, to: op(to(X), to(torch.tensor([[4], [1]])), to(Y[:2])),
                               lambda: updated(X, [4, 1], Y[:2])),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_calls_its_function(name):
    function, call, expected = CASES[name]
    versions = [f"aclnn{function}{version}" for version in ("", "V2", "V3", "V4", "V5")]
    before = sum(map(emulated.aclnn_calls, versions))
    found = call(getattr(torch.ops.npu, name), lambda tensor: tensor.clone().npu())
    torch.npu.synchronize()
    assert sum(map(emulated.aclnn_calls, versions)) == before + 1
    wanted = expected()
    for one, other in zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]:
        if other.dtype.is_floating_point:
            tolerance = {torch.float32: 1e-3 if one.dtype != torch.float32 else 1e-5}.get(other.dtype, 1e-2)
            torch.testing.assert_close(one.cpu().to(other.dtype), other, rtol=tolerance, atol=tolerance)
        else:
            assert torch.equal(one.cpu().long(), other.long()), (one, other)


# The operator; the plain formula, in float64.
GRADIENTS = {
    "npu_rms_norm": (lambda op, x: op(x, GAMMA.npu())[0], lambda x: rms(x, GAMMA.double())),
    "npu_swiglu": (lambda op, x: op(x), swiglu),
    "npu_geglu": (lambda op, x: op(x)[0], lambda x: x[:, :4] * torch.nn.functional.gelu(x[:, 4:], approximate="tanh")),
    "npu_moe_token_permute": (lambda op, x: op(x.bfloat16(), EXPERTS.long().npu())[0].float(),
                              lambda x: x[EXPERTS.flatten().argsort(stable=True) // 2]),
    "npu_moe_token_unpermute": (lambda op, x: op(x.bfloat16(), torch.tensor([3, 0, 5, 1, 4, 2], dtype=torch.int32).npu()).float(),
                                lambda x: x[[3, 0, 5, 1, 4, 2]]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    call, formula = GRADIENTS[name]
    x, plain = X.npu().requires_grad_(), X.double().requires_grad_()
    found, wanted = call(getattr(torch.ops.npu, name), x), formula(plain)
    weights = torch.linspace(1, 2, wanted.numel()).reshape(wanted.shape).bfloat16().double()
    (found * weights.float().npu()).sum().backward()
    (wanted * weights).sum().backward()
    tolerance = 1e-2 if "moe" in name else 1e-5
    torch.testing.assert_close(x.grad.cpu().double(), plain.grad, rtol=tolerance, atol=tolerance)


def test_a_graph_replays_them():
    x, gamma = X.npu(), GAMMA.npu()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = torch.ops.npu.npu_swiglu(torch.ops.npu.npu_rms_norm(x, gamma)[0])
    for scale in (1, -2, 3):
        x.copy_(X * scale)
        graph.replay()
        torch.testing.assert_close(result.cpu(), swiglu(rms(X * scale)))


def test_attention_takes_queries_of_int8():
    """With scales of whole tensors, and of tokens and heads beside rotary parts."""
    query, key, value = ((torch.arange(count * 32).reshape(1, 2, -1, 16) * step % 251 - 125).to(torch.int8)
                         for count, step in ((3, 7), (5, 11), (5, 13)))
    scores = query.double() @ key.double().mT
    weights = (scores * 0.0005 - (scores * 0.0005).amax(-1, keepdim=True)).exp()
    number = lambda value: torch.tensor([value]).npu()  # noqa: E731
    found = torch_npu.npu_fused_infer_attention_score(
        query.npu(), key.npu(), value.npu(), num_heads=2, input_layout="BNSD", scale=0.5, dequant_scale1=number(0.001),
        quant_scale1=number(127.0), dequant_scale2=number(0.01))[0]
    wanted = (weights * 127).round() @ value.double() * 0.01 / weights.sum(-1, keepdim=True)
    torch.testing.assert_close(found.cpu(), wanted.half(), rtol=2e-3, atol=2e-3)
    rope, key_rope = X[:3, :4].bfloat16().repeat(1, 2, 1, 1), Y[:5, :4].bfloat16().repeat(1, 2, 1, 1)
    scales = PROBS[:3].t()[None].contiguous()
    found = torch_npu.npu_fused_infer_attention_score_v2(
        query.npu(), key.npu(), value.npu(), query_rope=rope.npu(), key_rope=key_rope.npu(), num_query_heads=2,
        num_key_value_heads=2, input_layout="BNSD", softmax_scale=0.01, dequant_scale_query=scales.npu(),
        dequant_scale_key=number(0.02), dequant_scale_value=number(0.02), query_quant_mode=3)[0]
    scores = (scores + rope.double() @ key_rope.double().mT) * scales[..., None].double() * 0.0002
    torch.testing.assert_close(found.cpu(), (scores.softmax(-1) @ value.double() * 0.02).bfloat16(), rtol=1.6e-2, atol=1.6e-2)


def test_each_name_of_the_table_is_tried():
    inner = {"_npu_moe_token_unpermute", "npu_geglu_grad", "npu_rms_norm_backward", "npu_swiglu_backward",
             "npu_moe_token_permute_grad_v2", "npu_moe_token_unpermute_grad_v2"}
    others = set(_aclnn_table.EVERY_MODE)  # test_llm_attention tries these
    assert set(_aclnn_table.npu_names()) == set(CASES) | inner | others
