# SPDX-License-Identifier: Apache-2.0
"""Shapes that an `npu` operator does not take: refused by name, also where they would broadcast."""

import pytest
import torch
import torch_npu

NPU = torch.ops.npu


def r(*sizes):
    return torch.ones(sizes, device="npu")


def grad(shape=(2, 5, 4, 8), layout="BSND", **changes):
    """The gradient of attention on tensors of one shape, of which some have another one."""
    tnd = {"actual_seq_qlen": [5], "actual_seq_kvlen": [5]} if layout == "TND" else {}
    statistic = (5, 4, 8) if layout == "TND" else (2, 4, 5, 8)
    given = {"softmax_max": statistic, "softmax_sum": statistic, "attention_in": shape, **changes}
    dy = r(*given.pop("dy", shape))
    return NPU.npu_fusion_attention_grad(r(*shape), r(*shape), r(*shape), dy, 4, layout, **tnd,
                                         **{name: r(*sizes) for name, sizes in given.items()})


def fusion(query, key, value, layout, ends=None):
    return torch_npu.npu_fusion_attention(query, key, value, 4, layout, actual_seq_qlen=ends,
                                          actual_seq_kvlen=ends)


def infer(query, key, layout):
    return torch_npu.npu_fused_infer_attention_score(
        query, key, key, input_layout=layout, num_heads=4, actual_seq_lengths=[5],
        actual_seq_lengths_kv=[5])


T = (5, 4, 8)


@pytest.mark.parametrize("call, name", (
    (lambda: NPU.npu_swiglu_backward(r(1, 4), r(3, 8)), "grad_output"),
    (lambda: NPU.npu_swiglu_backward(r(5, 3, 4), r(3, 8)), "grad_output"),
    (lambda: NPU.npu_geglu_grad(r(1, 4), r(3, 8), r(3, 4)), "grad_output"),
    (lambda: NPU.npu_geglu_grad(r(3, 4), r(3, 8), r(3, 1)), "gelu"),
    (lambda: NPU.npu_rotary_mul_backward(r(1, 1, 1, 8), r(2, 3, 1, 8), r(1, 1, 1, 8), r(1, 1, 1, 8)),
     "grad"),
    (lambda: NPU.npu_rms_norm_backward(r(1, 8), r(3, 8), r(8), r(3, 1)), "dy"),
    (lambda: NPU.npu_rms_norm_backward(r(3, 8), r(3, 8), r(8), r(1)), "rstd"),
    (lambda: NPU.npu_rms_norm_backward(r(3, 8), r(3, 8), r(8), r(4, 3, 1)), "rstd"),
    (lambda: grad(dy=(1, 5, 4, 8)), "dy"), (lambda: grad(dy=(2, 6, 4, 8)), "dy"),
    (lambda: grad(T, "TND", dy=(3, 4, 8)), "dy"),
    (lambda: grad(softmax_max=(1,)), "softmax_max"),
    (lambda: grad(softmax_max=(2, 4, 5, 1)), "softmax_max"),
    (lambda: grad(softmax_sum=(1, 4, 5, 8)), "softmax_sum"),
    (lambda: grad(T, "TND", softmax_sum=(3, 4, 8)), "softmax_sum"),
    (lambda: grad(attention_in=(1, 5, 4, 8)), "attention_in"),
    (lambda: fusion(r(2, 5, 32), r(2, 5), r(2, 5, 32), "BSH"), "key"),
    (lambda: fusion(r(), r(*T), r(*T), "TND", [5]), "query"),
    (lambda: fusion(r(*T), r(*T), r(*T), "TND", [3, 0, 2]), "actual_seq_qlen"),
))
def test_a_shape_that_is_not_taken_is_named(call, name):
    with pytest.raises(ValueError, match=rf"^npu_\w+: {name} is .*; expected "):
        call()


@pytest.mark.parametrize("query, key", (((5,), (4, 5, 8)), ((4, 5, 8), (5,))))
def test_attention_refuses_tensors_of_few_dimensions(query, key):
    with pytest.raises((ValueError, RuntimeError), match=r"^npu_\w+: (query|key) is .*; expected |^(query|.*value)'s? ?dim should "):
        infer(r(*query), r(*key), "NTD")


def test_right_shapes_are_taken():
    for layout, shape in (("BSND", (2, 5, 4, 8)), ("TND", T)):
        assert [result.shape for result in grad(shape, layout)[:3]] == [torch.Size(shape)] * 3
    assert fusion(r(*T), r(*T), r(*T), "TND", [3, 0, 5])[0].shape == T
