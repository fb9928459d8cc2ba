# SPDX-License-Identifier: Apache-2.0
"""int8 of swiglu: of the int32 that a product of int8 matrices gives, and of the experts' products.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
from llm_cases import near, random
from llm_custom import ops


def swiglu(rows, limit, alpha=1.0, bias=0.0):
    gate, up = np.split(rows, 2, -1)
    if limit > 0:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    return gate / (1 + np.exp(-alpha * gate)) * (up + bias)


def quantized(found, scales, wanted):
    near(scales, np.abs(wanted).max(-1) / 127)
    assert found.dtype == torch.int8 and found.shape == wanted.shape
    assert np.abs(found.cpu().numpy() * scales.cpu().numpy()[..., None] - wanted).max() <= scales.max().item() * 0.51


@pytest.mark.parametrize("mode, limit", ((0, 0.0), (1, 0.0), (1, 0.7)))
@pytest.mark.parametrize("left", (True, False))
def test_dequant_swiglu_quant(mode, limit, left):
    x = torch.randint(-100, 100, (5, 16), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    columns, rows = random(16, seed=1).abs() * 0.1, random(5, 1, seed=2).abs()
    found, scales = ops.npu_dequant_swiglu_quant(
        x.npu(), weight_scale=columns.npu(), activation_scale=rows.npu(), activate_left=left, quant_mode=1,
        swiglu_mode=mode, clamp_limit=limit, glu_alpha=1.5, glu_bias=0.25)
    wide = x.double().numpy() * columns.double().numpy() * rows.double().numpy()
    wide = wide if left else np.concatenate(np.split(wide, 2, -1)[::-1], -1)
    quantized(found, scales, swiglu(wide, limit, 1.5, 0.25) if mode else swiglu(wide, 0))


@pytest.mark.parametrize("limit", (0.0, 0.7))
@pytest.mark.parametrize("listed", (True, False, "each"))
def test_grouped(limit, listed):
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-128, 128, (6, 8), dtype=torch.int8, generator=generator)
    weight = torch.randint(-128, 128, (3, 8, 12), dtype=torch.int8, generator=generator)
    columns, rows = random(3, 12, seed=1).abs() * 1e-2, random(6, seed=2).abs() * 1e-2
    ends = [2, 2, 5]
    given = {"group_list": torch.tensor(ends).npu(), "x_scale": rows.npu(), "swiglu_limit": limit}
    if listed:
        parts = [t.unbind() if listed == "each" else [t] for t in (weight, columns)]
        found, scales, _ = ops.grouped_matmul_swiglu_quant_weight_nz_tensor_list(
            x.npu(), *([part.contiguous().npu() for part in each] for each in parts), **given)
    else:
        found, scales, _ = ops.grouped_matmul_swiglu_quant_weight_nz(x.npu(), weight.npu(), columns.npu(), **given)
    whole = np.zeros((6, 12))
    for expert, (begin, end) in enumerate(zip([0, *ends], ends)):
        whole[begin:end] = x.double().numpy()[begin:end] @ weight.double().numpy()[expert] * columns.double().numpy()[expert]
    quantized(found, scales, swiglu(whole * rows.double().numpy()[:, None], limit))


def test_shapes_without_data():
    x = torch.zeros(5, 16, dtype=torch.int32, device="meta")
    assert [tuple(t.shape) for t in ops.npu_dequant_swiglu_quant(x, quant_mode=1)] == [(5, 8), (5,)]
    found = ops.grouped_matmul_swiglu_quant_weight_nz(
        x.to(torch.int8), torch.zeros(3, 16, 8, dtype=torch.int8, device="meta"), torch.zeros(3, 8, device="meta"),
        torch.zeros(5, device="meta"), torch.zeros(3, dtype=torch.int64, device="meta"))
    assert [tuple(t.shape) for t in found] == [(5, 4), (5,), (0,)]


X, W = torch.ones(4, 8, dtype=torch.int8), torch.ones(2, 8, 6, dtype=torch.int8)
S, ENDS = torch.ones(2, 6), torch.tensor([2, 4])


@pytest.mark.parametrize("call, text", (
    (lambda: ops.npu_dequant_swiglu_quant(X.npu()), "npu_dequant_swiglu_quant: quant_mode is 0"),
    (lambda: ops.npu_dequant_swiglu_quant(X.npu(), weight_scale=S.npu(), quant_mode=1),
     "npu_dequant_swiglu_quant: weight_scale is"),
    (lambda: ops.npu_dequant_swiglu_quant(X[:, :7].npu(), quant_mode=1), "npu_dequant_swiglu_quant: x is"),
    (lambda: ops.grouped_matmul_swiglu_quant_weight_nz(X.int().npu(), W.npu(), S.npu(), S[0, :4].npu(), ENDS.npu()),
     "grouped_matmul_swiglu_quant_weight_nz: x is"),
    (lambda: ops.grouped_matmul_swiglu_quant_weight_nz(X.npu(), W.npu(), S.npu(), S[0, :3].npu(), ENDS.npu()),
     "grouped_matmul_swiglu_quant_weight_nz: x_scale is"),
    (lambda: ops.grouped_matmul_swiglu_quant_weight_nz(X.npu(), W.int().npu(), S.npu(), S[0, :4].npu(), ENDS.npu()),
     "grouped_matmul_swiglu_quant_weight_nz: weight is"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        call()
