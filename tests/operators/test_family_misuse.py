# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of operators of language models: what messages name, and nothing written."""

import math
import random

import pytest
import torch

import aclnn
import families
import loops
import test_families

long = torch.tensor
IN_PHASE_ONE, IN_THE_TASK = 161002, 507035

# Function, what is changed in a usual call, the text that the message has, and where it fails.
CASES = [
    ("AddRmsNormCast", {"gamma": torch.ones(3)}, "gamma has shape \\[3\\]; expected that of the last dims of x", IN_PHASE_ONE),
    ("AddRmsNormQuant", {"axis": 0}, "axis is 0; expected -1", IN_PHASE_ONE),
    ("RmsNormQuant", {"scale": torch.ones(3)}, "scale has shape \\[3\\]; expected one element, or one for each", IN_PHASE_ONE),
    ("RmsNormDynamicQuant", {"dstType": 29}, "dstType is 29; expected the number of the dtype of yOut, 2", IN_PHASE_ONE),
    ("AddLayerNormQuant", {"quantMode": "half"}, "quantMode is half; expected static or dynamic", IN_PHASE_ONE),
    ("GroupNormSilu", {"group": 4}, "group is 4; expected a divisor of the 6 channels", IN_PHASE_ONE),
    ("GroupNormSwish", {"dataFormatOptional": "NHWC"}, "dataFormatOptional is NHWC; expected NCHW", IN_PHASE_ONE),
    ("RotaryPositionEmbedding", {"mode": 4}, "mode is 4; expected 0 to 3", IN_PHASE_ONE),
    ("RotaryPositionEmbedding", {"cos": torch.ones(5, 5)}, "cos has shape \\[5, 5\\]; expected one that broadcasts", IN_PHASE_ONE),
    ("ApplyRotaryPosEmbV2", {"rotaryMode": "third"}, "rotaryMode is third; expected half, interleave or quarter", IN_PHASE_ONE),
    ("RopeWithSinCosCache", {"positions": long([0, 3, 10, 1, 2]), "mropeSection": None},
     "positions has values from 0 to 10; expected 0 to 9", IN_THE_TASK),
    ("ClippedSwiglu", {"clampMode": 2, "limit": 0.0}, "limit is 0; expected more than 0", IN_PHASE_ONE),
    ("ClippedSwigluV2", {"clampMode": 2}, "clampMode is 2; expected 0 to 0", IN_PHASE_ONE),
    ("SwiGluQuant", {"groupIndexOptional": long([2, 1, 5]), "smoothScalesOptional": torch.ones(3, 8),
                     "offsetsOptional": None},
     "groupIndexOptional is \\[2, 1, 5\\]; expected ascending ends of rows, of 6 rows together", IN_THE_TASK),
    ("DynamicQuantV2", {"groupIndexOptional": long([2, 3, 4]), "smoothScalesOptional": torch.ones(3, 8)},
     "groupIndexOptional ends before the last row; expected 6 as its last number", IN_THE_TASK),
    ("AscendQuant", {"roundMode": "up"}, "roundMode is up; expected round or rint", IN_PHASE_ONE),
    ("AscendAntiQuant", {"dstType": 0}, "dstType is 0; expected the number of the dtype of y", IN_PHASE_ONE),
    ("QuantMatmulV5", {"groupSize": 32}, "groupSize is 32; expected 0 to 0", IN_PHASE_ONE),
    ("QuantMatmulV5", {"x1Offset": torch.ones(1)}, "x1Offset is not null; expected null: what it asks for is not", IN_PHASE_ONE),
    ("QuantMatmulV3", {"x1": torch.ones(3, 16)}, "x1 has dtype Float; expected INT8, INT4, INT32 with eight INT4 in each, FLOAT8", IN_PHASE_ONE),
    ("MoeGatingTopK", {"k": 7}, "k is 7; expected 1 to 6", IN_PHASE_ONE),
    ("MoeInitRoutingV2", {"expertIdx": long([[0, 1], [2, 3], [4, 6], [0, 0], [1, 1]], dtype=torch.int32)},
     "expertIdx has 6 at place 5; expected 0 to 5", IN_THE_TASK),
    ("MoeTokenUnpermute", {"sortedIndices": long([0, 1, 2, 3, 4, 5, 6, 7, 8, -1], dtype=torch.int32)},
     "sortedIndices has -1 at place 9; expected 0 to 9", IN_THE_TASK),
    ("MoeTokenPermute", {"paddedMode": True}, "paddedMode is true; expected false", IN_PHASE_ONE),
    ("MoeFinalizeRoutingV2", {"dropPadMode": 4}, "dropPadMode is 4; expected 0 to 3", IN_PHASE_ONE),
    ("GroupedMatmulSwigluQuant", {"groupList": long([2, 1, 6])}, "groupList is \\[2, 1, 6\\]; expected ascending ends", IN_THE_TASK),
    ("GroupedMatmulSwigluQuant", {"groupList": long([2, 2, 8])}, "of 7 rows together at most", IN_THE_TASK),
    ("GroupedMatmulFinalizeRoutingV2", {"x2": torch.ones(3, 8, 4)}, "x2 has dtype ACL_FLOAT; expected INT8", IN_PHASE_ONE),
    ("GroupedMatmulFinalizeRouting", {"biasOptional": torch.ones(3, 4)}, "bias is not null; expected null", IN_PHASE_ONE),
    ("GroupedMatmulFinalizeRouting", {"sharedInputOptional": torch.ones(2, 4), "sharedInputOffset": 3},
     "sharedInputOffset is 3; expected 0 to 2, as sharedInput has 2 rows", IN_PHASE_ONE),
    ("GroupedMatmulFinalizeRoutingV3", {"rowIndexOptional": long([0, 1, 4, 2, 0, 0, 0])},
     "rowIndex has 4 at place 2; expected 0 to 3", IN_THE_TASK),
    ("RmsNormGradQuant", {"quantMode": "dynamic"}, "quantMode is dynamic; expected static", IN_PHASE_ONE),
    ("RmsNormGradQuant", {"scalesX": torch.ones(3)}, "scalesX has shape \\[3\\]; expected one element", IN_PHASE_ONE),
    ("GeluMul", {"approximateOptional": "erf"}, "approximateOptional is erf; expected none or tanh", IN_PHASE_ONE),
    ("GroupedMatmulV4", {"actType": 9}, "actType is 9; expected 0, 1, 2, 4 or 5", IN_PHASE_ONE),
    ("GroupedMatmulV4", {"activationInputOptional": [torch.ones(2)]}, "activationInput is not null; expected null", IN_PHASE_ONE),
    ("ApplyTopKTopP", {"k": torch.ones(3, dtype=torch.int32)}, "k has shape \\[3\\]; expected \\[4\\]", IN_PHASE_ONE),
    ("ScatterNdUpdate", {"indices": long([[1, 2], [0, 4], [3, 5], [2, 2]]), "updates": torch.ones(4, 3)},
     "indices has \\[3, 5\\] in row 2; expected places of varRef, \\[4, 5\\]", IN_THE_TASK),
    ("ScatterNdUpdate", {"indices": long([[1], [-1]]), "updates": torch.ones(2, 5, 3)},
     "indices has \\[-1\\] in row 1; expected places of varRef, \\[4\\]", IN_THE_TASK),
    ("InplaceScatterUpdate", {"indices": long([0, 1, 3]), "axis": 1, "updates": torch.ones(3, 2, 6, 5)},
     "indices has request 2 and place 3 in row 2; expected a request below 3 and a place of 0 to 2", IN_THE_TASK),
    ("MoeDistributeDispatch", {"epWorldSize": 2}, "epWorldSize is 2; expected 1: experts of other ranks", IN_PHASE_ONE),
    ("MoeDistributeDispatchV2", {"tpWorldSize": 2}, "tpWorldSize is 2; expected 0 or 1: other ranks", IN_PHASE_ONE),
    ("MoeDistributeDispatchV3", {"zeroExpertNum": 1}, "zeroExpertNum is 1; expected 0: what it asks for is not", IN_PHASE_ONE),
    ("MoeDistributeDispatchV2", {"quantMode": 1}, "quantMode is 1; expected 0, or 2 for INT8 by row", IN_PHASE_ONE),
    ("MoeDistributeDispatchV2", {"groupEp": ""}, "groupEp is empty; expected the name of a group", IN_PHASE_ONE),
    ("MoeDistributeDispatchV2", {"xActiveMaskOptional": torch.ones(9).bool()},
     "xActiveMask is Bool of shape \\[9\\]; expected BOOL of", IN_PHASE_ONE),
    ("MoeDistributeDispatchV2", {"xActiveMaskOptional": None, "expertIds": long([[0, 3, 1]]).int()},
     "expertIds has 3 at place 1; expected 0 to 2", IN_THE_TASK),
    ("MoeDistributeCombineV2", {"commQuantMode": 2}, "commQuantMode is 2; expected 0 to 0", IN_PHASE_ONE),
    ("MoeDistributeCombine", {"activationScale": torch.ones(3)}, "activationScale is not null; expected null", IN_PHASE_ONE),
    ("MoeDistributeCombineAddRmsNorm", {"gamma": torch.ones(3)}, "gamma has shape \\[3\\]; expected \\[8\\]", IN_PHASE_ONE),
    ("MoeDistributeCombineAddRmsNorm", {"residualX": torch.ones(9, 1, 8).half()},
     "residualX has shape \\[9, 1, 8\\]; expected \\[", IN_PHASE_ONE),
    ("DistributeBarrier", {"group": ""}, "group is empty; expected the name of a group", IN_PHASE_ONE),
    ("DistributeBarrierV2", {"elasticInfo": torch.ones(4, dtype=torch.int32)}, "elasticInfo is not null; expected null", IN_PHASE_ONE),
    ("DistributeBarrier", {"worldSize": 8}, "worldSize is 8; expected 1: other ranks", IN_PHASE_ONE),
    ("FlashAttentionScore", {"sparseMode": 6}, "sparseMode is 6; expected 0 to 4", IN_PHASE_ONE),
    ("FlashAttentionScore", {"keepProb": 0.5, "dropMaskOptional": None}, "keepProb is 0.5; expected more than 0, and 1 if", IN_PHASE_ONE),
    ("FlashAttentionVarLenScore", {"actualSeqQLenOptional": [2, 1, 5]}, "actualSeqQLenOptional is \\[2, 1, 5\\]; expected ascending", IN_PHASE_ONE),
]


@pytest.mark.parametrize("name, changes, text, code", CASES, ids=[f"{case[0]}-{place}" for place, case in enumerate(CASES)])
def test_what_is_wrong_is_named(device, name, changes, text, code):
    function = "aclnn" + name
    torch.manual_seed(1)
    values = families.CASES[function][0](random.Random(1))
    outputs = test_families.outputs_of(function, values)
    values |= changes
    for word, output in outputs.items():
        if word in changes:
            outputs[word] = changes[word]
        elif isinstance(output, torch.Tensor) and word in values:
            outputs[word] = values[word]
    before = {word: output.clone() for word, output in outputs.items() if isinstance(output, torch.Tensor)}
    with pytest.raises(aclnn.Failed, match=text) as info:
        aclnn.call(device, function, *test_families.arguments_of(function, values, outputs))
    assert info.value.code == code, info.value
    for word, kept in before.items():
        assert torch.equal(outputs[word], kept), word


def test_a_dtype_that_is_not_rounded_to_is_refused(device):
    x, gamma = torch.randn(2, 8), torch.ones(8)
    with pytest.raises(aclnn.Failed, match="yOut has dtype .*FLOAT; expected INT8, INT4, or INT32 with eight"):
        aclnn.call(device, "aclnnRmsNormDynamicQuant", x, gamma, None, None, 1e-5, 0, torch.zeros(2, 8), torch.zeros(2))


def test_updates_may_be_rows_of_the_cache(device):
    cache = torch.arange(12.0).reshape(4, 3)
    wanted = cache.clone()
    wanted[1:4] = cache[0:3]
    aclnn.call(device, "aclnnScatterNdUpdate", cache, torch.tensor([[1], [2], [3]]), cache[0:3])
    assert torch.equal(cache, wanted)


def test_a_place_of_its_own_for_each_element(device):
    cache = torch.zeros(1, 3).expand(4, 3)
    with pytest.raises(aclnn.Failed, match="varRef has stride 0 along dim 0 of size 4"):
        aclnn.call(device, "aclnnScatterNdUpdate", cache, torch.tensor([[1]]), torch.ones(1, 3))


def test_a_request_behind_the_last_is_named(device):
    data = torch.zeros(2, 3, 4)
    with pytest.raises(aclnn.Failed, match="indices has request 2 and place 0 in row 1; expected a request below 2"):
        aclnn.call(device, "aclnnInplaceScatterUpdate", data, torch.tensor([[0, 1], [2, 0]]), torch.ones(2, 1, 4), 1)
    assert (data == 0).all()


def test_a_gradient_without_probabilities_needs_no_rows(device):
    gradient, places, out = torch.randn(3, 4), torch.tensor([2, 0, 1], dtype=torch.int32), torch.zeros(3, 4)
    aclnn.call(device, "aclnnMoeTokenUnpermuteGrad", None, gradient, places, None, False, None, out, None)
    assert torch.equal(out[places.long()], gradient)
    with pytest.raises(aclnn.Failed, match="permuteTokens is null; expected rows, as probsOptional is not null"):
        aclnn.call(device, "aclnnMoeTokenUnpermuteGrad", None, gradient, places, torch.ones(3, 1), False, None, out, None)


def test_an_empty_tensor_is_one_that_is_left_out(device):
    x, weight, out = torch.ones(2, 4).char(), torch.ones(4, 3).char(), torch.zeros(2, 3).half()
    values = {"x1": x, "x2": weight, "x2Scale": torch.full((3,), 0.5), "x1Offset": torch.zeros(0), "yOffset": torch.zeros(0),
              "transposeX1": False, "transposeX2": False, "out": out}
    function = "aclnnQuantMatmulV5"
    aclnn.call(device, function, *test_families.arguments_of(function, values, {"out": out}))
    assert (out == 2).all()


def test_halves_round_to_even_and_saturate(device):
    x = torch.tensor([0.5, 1.5, -0.5, -1.5, 2.5, 126.5, 127.5, 300.0, -300.0, math.inf, -math.inf, math.nan])
    y = torch.full((12,), 7, dtype=torch.int8)
    aclnn.call(device, "aclnnAscendQuant", x, torch.ones(1), None, False, "round", 2, y)
    assert y.tolist() == [0, 2, 0, -2, 2, 126, 127, 127, -128, 127, -128, 0]


def test_references_of_rounding():
    """Half to even, and saturation."""
    assert [loops.half_even(x) for x in (0.5, 1.5, -0.5, -1.5, 2.5)] == [0, 2, 0, -2, 2]
    assert loops.saturated(200) == 127 and loops.saturated(-200) == -128
