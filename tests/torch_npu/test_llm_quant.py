# SPDX-License-Identifier: Apache-2.0
"""Quantization to int8 and int4, products of such matrices, and the choice of tokens.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import TYPES, near, random


def int8(*shape, seed=0):
    return torch.randint(-128, 128, shape, dtype=torch.int8, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("smooth", (False, True))
def test_dynamic_quant(smooth):
    for dtype in TYPES:
        x, factors = random(2, 3, 8, dtype=dtype), random(8, seed=1, dtype=dtype)
        x[1, 1] = 0
        y, scales = torch_npu.npu_dynamic_quant(x.npu(), smooth_scales=factors.npu() if smooth else None)
        wide = x.double().numpy() * (factors.double().numpy() if smooth else 1)
        near(scales, np.abs(wide).max(-1) / 127)
        assert y.dtype == torch.int8 and not y[1, 1].any()
        assert y.abs().amax(-1).view(-1).tolist() == [127] * 4 + [0, 127]
        assert np.abs(y.cpu().numpy() * scales.cpu().numpy()[..., None] - wide).max() <= scales.max().item() * 0.51


def unpacked(numbers):
    """Eight int4 of each int32, the first in its lowest bits."""
    whole = numbers.cpu().numpy().astype(np.int64)
    parts = np.stack([(whole >> 4 * place) & 15 for place in range(8)], -1).reshape(*whole.shape[:-1], -1)
    return np.where(parts > 7, parts - 16, parts)


def test_dynamic_quant_to_int4():
    for dtype in TYPES:
        x = random(2, 3, 16, dtype=dtype)
        x[1, 1] = 0
        y, scales = torch_npu.npu_dynamic_quant(x.npu(), dst_type=torch.quint4x2)
        wide = x.double().numpy()
        near(scales, np.abs(wide).max(-1) / 7)
        numbers = unpacked(y)
        assert y.dtype == torch.int32 and y.shape == (2, 3, 2) and not numbers[1, 1].any()
        assert np.abs(numbers).max(-1).reshape(-1).tolist() == [7] * 4 + [0, 7]
        assert np.abs(numbers * scales.cpu().numpy()[..., None] - wide).max() <= scales.max().item() * 0.51


@pytest.mark.parametrize("ratio", (None, 0.5))
def test_kronecker_quant(ratio):
    for dtype in TYPES:
        x, left, right = (random(*shape, seed=seed, dtype=dtype)
                          for seed, shape in enumerate(((4, 3, 8), (3, 3), (8, 8))))
        x[2] = 0
        y, scales = torch_npu.npu_kronecker_quant(x.npu(), left.npu(), right.npu(), clip_ratio=ratio,
                                                  dst_dtype=torch.int32)
        wide = [left.double().numpy() @ matrix @ right.double().numpy() for matrix in x.double().numpy()]
        wanted = np.array([np.abs(matrix).max() for matrix in wide]) * (ratio or 1) / 7
        near(scales, wanted)
        assert y.dtype == torch.int32 and y.shape == (4, 3, 1)
        exact = np.clip(np.stack(wide) / np.maximum(wanted, 1e-12)[:, None, None], -8, 7)
        assert np.abs(unpacked(y) - exact).max() <= 0.51
        assert np.abs(unpacked(y)[[0, 1, 3]]).max() >= 7


@pytest.mark.parametrize("transposed", (True, False))
def test_quant_matmul_of_int4(transposed):
    x, weight = (torch.randint(-8, 8, shape, dtype=torch.int32, generator=torch.Generator().manual_seed(seed))
                 for seed, shape in enumerate(((3, 16), (16, 8))))
    pack = torch_npu.npu_convert_weight_to_int4pack
    packed = pack(weight.t().contiguous().npu()).t() if transposed else pack(weight.npu())
    scale, rows = random(8, seed=2).abs(), random(3, seed=3).abs()
    y = torch_npu.npu_quant_matmul(pack(x.npu()), packed, scale.npu(), pertoken_scale=rows.npu(),
                                   output_dtype=torch.float16)
    whole = np.array([[sum(a * b for a, b in zip(row, column)) for column in weight.t().tolist()]
                      for row in x.tolist()])
    np.testing.assert_allclose(y.float().cpu().numpy(), whole * scale.numpy() * rows.numpy()[:, None], rtol=2e-3)


@pytest.mark.parametrize("divide", (True, False))
def test_quantize(divide):
    x, scales, zeros = random(3, 4), torch.tensor([0.01, 0.1, 0.5, 2.0]), torch.tensor([0.0, 3.0, -2.0, 1.0])
    y = torch_npu.npu_quantize(x.npu(), scales.npu(), zeros.npu(), torch.int8, -1, divide)
    wide = x.numpy() / scales.numpy() if divide else x.numpy() * scales.numpy()
    assert np.array_equal(y.cpu().numpy(), np.clip(np.round(wide + zeros.numpy()), -128, 127))


@pytest.mark.parametrize("floating", (True, False))
def test_quant_matmul(floating):
    x, weight = int8(3, 8), int8(8, 4, seed=1)
    scale, rows = random(4, seed=2).abs(), random(3, seed=3).abs()
    bias = random(4, seed=4) if floating else torch.tensor([5, -7, 100, 0], dtype=torch.int32)
    y = torch_npu.npu_quant_matmul(x.npu(), weight.npu(), scale.npu(), pertoken_scale=rows.npu(), bias=bias.npu(),
                                   output_dtype=torch.bfloat16)
    whole = np.array([[sum(int(a) * int(b) for a, b in zip(row, column)) for column in weight.numpy().T]
                      for row in x.numpy()])
    added = whole + (0 if floating else bias.numpy())
    wanted = added * scale.double().numpy() * rows.double().numpy()[:, None] + (bias.numpy() if floating else 0)
    assert y.dtype == torch.bfloat16
    np.testing.assert_allclose(y.float().cpu().numpy(), wanted, rtol=1e-2)


@pytest.mark.parametrize("order", ((1, 0, 2), (0, 1, 2)))
def test_transpose_batchmatmul(order):
    x, weight = random(5, 3, 8), random(3, 8, 4, seed=1)
    y = torch_npu.npu_transpose_batchmatmul(x.npu(), weight.npu(), perm_x1=[1, 0, 2], perm_x2=[0, 1, 2],
                                            perm_y=list(order))
    wanted = np.stack([x[:, batch].numpy() @ weight[batch].numpy() for batch in range(3)])
    near(y, wanted.transpose(order))


@pytest.mark.parametrize("with_k, with_p", ((True, False), (False, True), (True, True)))
def test_top_k_top_p(with_k, with_p):
    logits, k, p = random(4, 16), [3, 16, 1, 5], [0.9, 0.5, 0.1, 1.0]
    found = torch_npu.npu_top_k_top_p(
        logits.npu(), torch.tensor(p).npu() if with_p else None,
        torch.tensor(k, dtype=torch.int32).npu() if with_k else None).cpu()
    for row, given in enumerate(logits.tolist()):
        order = sorted(range(16), key=lambda token: -given[token])
        kept = order[:k[row]] if with_k else order
        if with_p:
            powers = [np.exp(given[token]) for token in kept]
            kept = [token for place, token in enumerate(kept) if sum(powers[:place]) / sum(powers) <= p[row]]
        assert [token for token in range(16) if found[row, token] > float("-inf")] == sorted(kept)
        assert all(found[row, token] == given[token] for token in kept)


X = torch.ones(3, 4)
I8 = torch.ones(3, 4, dtype=torch.int8)
X8, X44 = torch.ones(2, 4, 8), torch.ones(4, 4)


@pytest.mark.parametrize("call, text", (
    (lambda: torch_npu.npu_dynamic_quant(X.npu(), smooth_scales=X.npu()), "npu_dynamic_quant: smooth_scales is"),
    (lambda: torch_npu.npu_quantize(X.npu(), X[0, :3].npu(), None, torch.int8, -1), "npu_quantize: scales is"),
    (lambda: torch_npu.npu_quant_matmul(X.npu(), I8.npu(), X[0].npu()), "npu_quant_matmul: x1 is"),
    (lambda: torch_npu.npu_quant_matmul(I8.npu(), I8.npu(), X[0].npu()), "npu_quant_matmul: x2 is"),
    (lambda: torch_npu.npu_quant_matmul(I8.int().npu(), I8.npu(), X[0].npu()), "npu_quant_matmul: x2 is"),
    (lambda: torch_npu.npu_dynamic_quant(X.npu(), dst_type=torch.quint4x2), "npu_dynamic_quant: input is"),
    (lambda: torch_npu.npu_dynamic_quant(X.npu(), dst_type=torch.int16), "npu_dynamic_quant: dst_type is"),
    (lambda: torch_npu.npu_kronecker_quant(X8.npu(), X44.npu(), X44.npu()), "npu_kronecker_quant: kronecker_p2 is"),
    (lambda: torch_npu.npu_kronecker_quant(X8[..., :7].npu(), X44.npu(), X44.npu()), "npu_kronecker_quant: x is"),
    (lambda: torch_npu.npu_kronecker_quant(X8.npu(), X44.npu(), X8[0, :1].expand(8, 8).npu(), clip_ratio=2.0),
     "npu_kronecker_quant: clip_ratio is 2.0"),
    (lambda: torch_npu.npu_top_k_top_p(X.npu(), X[0].npu(), None), "npu_top_k_top_p: p is"),
    (lambda: torch_npu.npu_transpose_batchmatmul(X[None].npu(), X[None].npu(), perm_x1=[0, 0, 1]),
     "npu_transpose_batchmatmul: perm_x1 is"),
))
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=f"^{text}"):
        call()
