# SPDX-License-Identifier: Apache-2.0
"""Products with weights of int8 and int4, fast gelu, and signs in bits.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import near, random
from llm_custom import ops

FOURS = torch.tensor([[-8, -1, 0, 7, 1, 2, 3, -4], [5, 6, 7, -8, -7, -6, -5, -4]] * 4, dtype=torch.int32)


def test_eight_int4_are_packed_into_an_int32():
    packed = torch_npu.npu_convert_weight_to_int4pack(FOURS.npu())
    assert packed.dtype == torch.int32 and packed.shape == (8, 1)
    assert [int(word) & 0xffffffff for word in packed[:2].flatten()] == [0xc32170f8, 0xcba98765]
    with pytest.raises(ValueError, match="npu_convert_weight_to_int4pack: weight is a int32 tensor of shape "
                       r"\[2, 7\]; expected .* multiple of 8"):
        torch_npu.npu_convert_weight_to_int4pack(FOURS[:2, :7].npu())


@pytest.mark.parametrize("kind", ("int8", "int4", "transposed"))
@pytest.mark.parametrize("group", (0, 4))
def test_product_with_a_quantized_weight(kind, group):
    x, bias = random(3, 8), random(8, seed=1)
    scale, offset = (random(2 if group else 1, 8, seed=seed).abs() for seed in (2, 3))
    whole = FOURS.double().numpy()
    if kind == "int8":
        weight = FOURS.to(torch.int8).npu()
    elif kind == "int4":
        weight = torch_npu.npu_convert_weight_to_int4pack(FOURS.npu())
    else:
        weight = torch_npu.npu_convert_weight_to_int4pack(FOURS.npu()).t()
        whole = whole.T
    rows = [row // group if group else 0 for row in range(8)]
    wide = (whole + offset.double().numpy()[rows]) * scale.double().numpy()[rows]
    found = torch_npu.npu_weight_quant_batchmatmul(x.npu(), weight, scale.npu(), offset.npu(), bias=bias.npu(),
                                                   antiquant_group_size=group)
    np.testing.assert_allclose(found.cpu().numpy(), x.double().numpy() @ wide + bias.double().numpy(), rtol=1e-4,
                               atol=1e-4)


def test_a_product_refuses_what_does_not_fit():
    x, weight = random(3, 8).npu(), FOURS.to(torch.int8).npu()
    with pytest.raises(ValueError, match=r"antiquant_scale is a float32 tensor of shape \[1, 7\]; expected"):
        torch_npu.npu_weight_quant_batchmatmul(x, weight, random(7).npu())
    with pytest.raises(ValueError, match="weight is a int8 tensor .* expected 6 rows, as x has columns"):
        torch_npu.npu_weight_quant_batchmatmul(x[:, :6], weight, random(8).npu())
    with pytest.raises(NotImplementedError, match="quant_scale is .* not supported"):
        torch_npu.npu_weight_quant_batchmatmul(x, weight, random(8).npu(), quant_scale=random(8).npu())


def test_fast_gelu_and_its_gradient():
    x = random(4, 5)
    wide = x.double().requires_grad_()
    wanted = wide * torch.sigmoid(1.702 * wide)
    near(torch_npu.npu_fast_gelu(x.npu()), wanted.detach().numpy())
    given = x.npu().requires_grad_()
    torch_npu.npu_fast_gelu(given).sum().backward()
    wanted.sum().backward()
    near(given.grad, wide.grad.numpy())


def test_quantize_to_qint8_gives_int8():
    found = torch_npu.npu_quantize(torch.tensor([[3.0, -300.0]]).npu(), torch.tensor([0.5]).npu(), None, torch.qint8,
                                   -1, True)
    assert found.dtype == torch.int8 and found.tolist() == [[6, -128]]


def test_signs_in_bits():
    x = torch.tensor([5., 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2]).npu()
    for pack in (torch_npu.npu_sign_bits_pack, ops.npu_sign_bits_pack):
        packed = pack(x, 2)
        assert packed.dtype == torch.uint8 and packed.tolist() == [[0b10011111], [0b00001111]]
    whole = torch_npu.npu_sign_bits_unpack(packed.flatten(), 1, torch.float16)
    assert whole.dtype == torch.float16 and whole.shape == (1, 16)
    assert whole[0, :14].tolist() == [1 if number >= 0 else -1 for number in x.tolist()]
    with pytest.raises(ValueError, match="npu_sign_bits_pack: size is 3; expected a divisor of 2"):
        ops.npu_sign_bits_pack(x, 3)
