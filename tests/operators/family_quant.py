# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of few bits: arguments, and references in exact arithmetic.

Results of float32 are made by operations on numpy's float32 scalars, so all numbers are equal, not near."""

import numpy
import torch

import aclnn
from family_norms import DTYPES, draw, shape_of, some
from loops import half_even, rows, saturated, shaped

f32 = numpy.float32


def singles(tensor):
    return [f32(one) for one in tensor.flatten().tolist()]


def single_rows(tensor):
    return [[f32(one) for one in row] for row in rows(tensor)]


def along(factors, shape, axis):
    """The factor of each element, in order, of one along an axis, or of one for all."""
    numbers = singles(factors)
    if len(numbers) == 1:
        return numbers * int(numpy.prod(shape))
    axis %= len(shape)
    behind = int(numpy.prod(shape[axis + 1:]))
    return [numbers[place // behind % shape[axis]] for place in range(int(numpy.prod(shape)))]


def words(numbers, shape):
    """INT4 in INT32, eight in each, the first one in the lowest bits."""
    packed = [sum((numbers[place + part] & 15) << 4 * part for part in range(8)) for place in range(0, len(numbers), 8)]
    packed = [one - (1 << 32) if one >= 1 << 31 else one for one in packed]
    return torch.tensor(packed, dtype=torch.int32).reshape(*shape[:-1], shape[-1] // 8)


KINDS = {2: (-128, 127), 29: (-8, 7), 3: (-8, 7)}  # dstType: INT8, INT4, INT4 in INT32


def numbers_of(whole, shape, kind):
    """Whole numbers as a tensor of that dstType."""
    numbers = [int(saturated(one, *KINDS[kind])) for one in whole]
    if kind == 3:
        return words(numbers, shape)
    tensor = torch.tensor(numbers, dtype=torch.int8).reshape(shape)
    return aclnn.Int4(tensor) if kind == 29 else tensor


def dynamic_row(row, most):
    """scale = largest / most, and the numbers row / scale."""
    scale = f32(max(abs(one) for one in row)) / f32(most)
    return [half_even(one / scale) if scale else 0 for one in row], scale


def ranged_row(row, least, most):
    scale = (max(row) - min(row)) / f32(most - least)
    if not scale:
        return [0] * len(row), scale, f32(0)
    offset = f32(most) - max(row) / scale
    return [half_even(one / scale + offset) for one in row], scale, offset


def case_dynamic(dice):
    x = draw(*shape_of(dice)[:-1], 8, dtype=dice.choice(DTYPES))
    if dice.random() < 0.3:
        x[0] = 0
    return {"x": x, "smoothScalesOptional": some(dice, draw(8))}


def case_dynamic_v2(dice):
    grouped = dice.random() < 0.4
    x = draw(6, 8, dtype=dice.choice(DTYPES))
    return {"x": x, "smoothScalesOptional": draw(3, 8) if grouped else some(dice, draw(8)),
            "groupIndexOptional": torch.tensor([2, 2, 6], dtype=torch.int32) if grouped else None,
            "dstType": dice.choice([2, 29, 3]), "ranged": dice.random() < 0.5}


def case_dynamic_v3(dice):
    a = case_dynamic_v2(dice)
    return a | {"isSymmetrical": not a["ranged"], "quantMode": dice.choice(["pertoken", "pertensor"]), "dstTypeMax": 0.0}


def dynamic_reference(a):
    kind = a.get("dstType", 2)
    least, most = KINDS[kind]
    lines = single_rows(a["x"])
    groups = [0, 0, 2, 2, 2, 2] if a.get("groupIndexOptional") is not None else None
    if a["smoothScalesOptional"] is not None:
        factors = single_rows(a["smoothScalesOptional"])
        lines = [[one * by for one, by in zip(row, factors[groups[at] if groups else 0])] for at, row in enumerate(lines)]
    whole_tensor = a.get("quantMode") == "pertensor"
    if whole_tensor:
        lines = [[one for row in lines for one in row]]
    shape = (1,) if whole_tensor else tuple(a["x"].shape[:-1])
    numbers, scales, offsets = [], [], []
    for row in lines:
        found = ranged_row(row, least, most) if a.get("ranged") else (*dynamic_row(row, most), None)
        numbers += found[0]
        scales.append(found[1])
        offsets.append(found[2])
    return {"yOut": numbers_of(numbers, a["x"].shape, kind),
            "scaleOut": shaped([float(one) for one in scales], shape, torch.float32),
            "offsetOut": shaped([float(one) for one in offsets], shape, torch.float32) if a.get("ranged") else None}


def case_ascend(dice):
    x = draw(*shape_of(dice)[:-1], 8, dtype=dice.choice(DTYPES)) * 4
    scale = torch.rand(dice.choice([1, 8])) * 20
    return {"x": x, "scale": scale, "offset": some(dice, draw(*scale.shape)), "sqrtMode": dice.random() < 0.5,
            "roundMode": dice.choice(["round", "floor", "ceil", "trunc"]), "dstType": dice.choice([2, 29, 3])}


def case_ascend_v3(dice):
    a = case_ascend(dice)
    axis = dice.choice([-1, -2])
    if axis == -2:
        size = a["x"].shape[-2]
        a |= {"scale": torch.rand(size) * 20, "offset": some(dice, draw(size))}
    return a | {"axis": axis}


ROUNDINGS = {"round": half_even, "floor": lambda x: int(numpy.floor(x)), "ceil": lambda x: int(numpy.ceil(x)),
             "trunc": lambda x: int(numpy.trunc(x))}


def ascend_reference(a):
    shape = a["x"].shape
    scales = along(a["scale"], shape, a.get("axis", -1))
    offsets = along(a["offset"], shape, a.get("axis", -1)) if a["offset"] is not None else None
    numbers = []
    for place, x in enumerate(singles(a["x"])):
        y = x * (scales[place] * scales[place] if a["sqrtMode"] else scales[place])
        y = y + offsets[place] if offsets else y
        numbers.append(ROUNDINGS[a["roundMode"]](y))
    return {"y": numbers_of(numbers, shape, a["dstType"])}


def case_back(dice):
    kind = dice.choice([2, 29, 3])
    whole = torch.randint(KINDS[kind][0], KINDS[kind][1] + 1, (3, 8), dtype=torch.int8)
    x = words(whole.flatten().tolist(), (3, 8)) if kind == 3 else aclnn.Int4(whole) if kind == 29 else whole
    dtype, number = dice.choice([(torch.float16, 1), (torch.bfloat16, 27)])
    scale = torch.rand(dice.choice([1, 8])).to(dtype)
    return {"x": x, "whole": whole, "dtype": dtype, "scale": scale, "offset": some(dice, draw(*scale.shape, dtype=dtype)),
            "dstType": number, "sqrtMode": dice.random() < 0.5}


def back_reference(a):
    scales = along(a["scale"], (3, 8), -1)
    offsets = along(a["offset"], (3, 8), -1) if a["offset"] is not None else [f32(0)] * 24
    out = [(x + offset) * (scale * scale if a["sqrtMode"] else scale)
           for x, scale, offset in zip(singles(a["whole"]), scales, offsets)]
    return {"y": torch.tensor([float(one) for one in out]).reshape(3, 8).to(a["dtype"])}


def case_quantize(dice):
    x = draw(3, 4, 8, dtype=dice.choice(DTYPES))
    axis = dice.choice([0, 1, 2, -1])
    scale = torch.rand(dice.choice([1, x.shape[axis]])) * 0.1 + 0.01
    dtype = dice.choice([torch.int8, torch.uint8, torch.int32])
    zeros = torch.randint(0 if dtype == torch.uint8 else -5, 6, scale.shape, dtype=torch.int32)
    return {"x": x, "scales": scale, "zeroPoints": some(dice, zeros), "dtype": dtype, "axis": axis}


def quantize_reference(a):
    scales = along(a["scales"], a["x"].shape, a["axis"])
    zeros = along(a["zeroPoints"], a["x"].shape, a["axis"]) if a["zeroPoints"] is not None else [f32(0)] * 96
    limits = torch.iinfo(a["dtype"])
    numbers = [saturated(half_even(x / scale + zero), limits.min, limits.max)
               for x, scale, zero in zip(singles(a["x"]), scales, zeros)]
    return {"out": torch.tensor(numbers).reshape(a["x"].shape).to(a["dtype"])}


def case_group(dice):
    return {"x": draw(6, 8, dtype=dice.choice(DTYPES)), "scale": torch.rand(3, 8) * 20,
            "groupIndex": torch.tensor([2, 2, 6]), "offsetOptional": some(dice, draw(1)), "dstType": dice.choice([2, 29, 3])}


def group_reference(a):
    factors, numbers = single_rows(a["scale"]), []
    more = singles(a["offsetOptional"])[0] if a["offsetOptional"] is not None else f32(0)
    for group, row in zip([0, 0, 2, 2, 2, 2], single_rows(a["x"])):
        numbers += [half_even(x * by + more) for x, by in zip(row, factors[group])]
    return {"y": numbers_of(numbers, (6, 8), a["dstType"])}


def case_bias(dice):
    dtype, number = dice.choice([(torch.float16, 1), (torch.bfloat16, 27)])
    return {"x": torch.randint(-10000, 10000, (5, 8), dtype=torch.int32), "weightScale": torch.rand(8) * 0.01,
            "activateScaleOptional": some(dice, torch.rand(5)),
            "biasOptional": dice.choice([None, draw(8, dtype=dtype), torch.randint(-1000, 1000, (8,), dtype=torch.int32)]),
            "outputDtype": number, "dtype": dtype}


def bias_reference(a):
    bias, out = a["biasOptional"], []
    whole = bias is not None and bias.dtype == torch.int32
    for at, row in enumerate(a["x"].tolist()):
        for column, x in enumerate(row):
            y = f32(x + bias[column].item() if whole else x) * f32(a["weightScale"][column].item())
            y = y * f32(a["activateScaleOptional"][at].item()) if a["activateScaleOptional"] is not None else y
            out.append(float(y + f32(bias[column].item()) if bias is not None and not whole else y))
    return {"out": torch.tensor(out).reshape(5, 8).to(a["dtype"])}


def packed_scale(scale, offset=None, mode=0):
    """Bits 13 to 31 of a float32, bit 46, the offset in bits 37 to 45."""
    bits = int(f32(scale).view(numpy.uint32))
    if mode == 1:
        below, bits = bits & 0x1FFF, bits >> 13
        bits = bits + (below > 0x1000 or (below == 0x1000 and bits % 2 == 1)) << 13
    packed = bits & 0xFFFFE000 | 1 << 46
    return packed if offset is None else packed | (saturated(half_even(offset), -256, 255) & 0x1FF) << 37


def case_param(dice):
    scale = torch.rand(8)
    return {"scale": scale, "offset": some(dice, draw(8) * 200), "roundMode": dice.randrange(2)}


def case_param_v2(dice):
    return {key: value for key, value in case_param(dice).items() if key != "roundMode"}


def param_reference(a):
    offsets = a["offset"].tolist() if a["offset"] is not None else [None] * 8
    return {"out": torch.tensor([packed_scale(scale, offset, a.get("roundMode", 0))
                                 for scale, offset in zip(a["scale"].tolist(), offsets)])}


def case_convert(dice):
    return {"weight": torch.randint(-8, 8, (4, 16), dtype=torch.int32), "kind": dice.choice([29, 3])}


def convert_reference(a):
    return {"weightInt4Pack": numbers_of(a["weight"].flatten().tolist(), (4, 16), a["kind"])}


# --- products

M, K, N = 3, 16, 8


def operands(dice, batches=(), plain=False):
    """Whole matrices x1 and x2, and both as arguments with their flags."""
    kind = dice.choice([2, 2, 29, 3])
    one = torch.randint(KINDS[kind][0], KINDS[kind][1] + 1, (*batches, M, K), dtype=torch.int8)
    two = torch.randint(KINDS[kind][0], KINDS[kind][1] + 1, (*batches, K, N), dtype=torch.int8)
    flags = [False, False] if plain else [kind == 2 and dice.random() < 0.5, kind == 2 and dice.random() < 0.5]

    def given(whole, flag):
        whole = whole.mT.contiguous() if flag else whole
        return words(whole.flatten().tolist(), whole.shape) if kind == 3 else aclnn.Int4(whole) if kind == 29 else whole
    return {"one": one, "two": two, "x1": given(one, flags[0]), "x2": given(two, flags[1]), "transposeX1": flags[0],
            "transposeX2": flags[1], "adjX1": flags[0], "adjX2": flags[1], "groupSize": 0}


OUTPUTS = {"int8": torch.int8, "half": torch.float16, "brain": torch.bfloat16}


def case_product_v1(dice, plain=True):
    a = operands(dice, plain=plain) | {"bias": some(dice, torch.randint(-500, 500, (N,), dtype=torch.int32)), "output": "half"}
    return a | {"deqScale": 0.01}


def case_product_v2(dice):
    a = case_product_v1(dice, plain=False)
    scales = [packed_scale(one) for one in (torch.rand(N) * 0.01).tolist()]
    return a | {"deqScale": torch.tensor(scales), "scales": scales, "output": dice.choice(["half", "int8"])}


def case_product_v3(dice):
    a = case_product_v1(dice, plain=False)
    output = dice.choice(list(OUTPUTS))
    offset = draw(N) * 20 if output == "int8" and dice.random() < 0.5 else None
    if dice.random() < 0.5:
        scales = [packed_scale(one, 7) if output == "int8" else packed_scale(one) for one in (torch.rand(N) * 0.01).tolist()]
        return a | {"scale": torch.tensor(scales), "scales": scales, "output": output, "offset": offset}
    scale = torch.rand(dice.choice([1, N])) * 0.01
    return a | {"scale": scale, "output": output, "offset": offset}


def case_product_v4(dice):
    a = case_product_v3(dice)
    if a["output"] != "int8":
        a["pertokenScaleOptional"] = some(dice, torch.rand(M))
        a["bias"] = dice.choice([a["bias"], draw(N), draw(N, dtype=torch.bfloat16)])
    return a


def case_product_v5(dice):
    a = case_product_v4(dice)
    return a | {"x2Scale": a["scale"], "x1Scale": a.get("pertokenScaleOptional"), "yOffset": a["offset"]}


def case_product_sum(dice):
    batches = (2,)
    a = operands(dice, batches)
    return a | {"x2Scale": torch.rand(N) * 0.01, "x1Scale": torch.rand(M), "dims": [0], "keepDims": dice.random() < 0.5,
                "output": "half"}


def sums_of(a):
    """Exact sums, by Python's whole numbers."""
    def product(one, two):
        return [[sum(x * two[k][n] for k, x in enumerate(row)) for n in range(N)] for row in one]
    if a["one"].dim() == 3:
        return [product(one, two) for one, two in zip(a["one"].tolist(), a["two"].tolist())]
    return product(a["one"].tolist(), a["two"].tolist())


def scale_and_offset(a, column):
    scale = a.get("x2Scale", a.get("scale", a.get("deqScale")))
    if a.get("scales"):
        bits = a["scales"][column]
        offset = bits >> 37 & 0x1FF
        return numpy.uint32(bits & 0xFFFFE000).view(f32), f32(offset - 512 if offset >= 256 else offset)
    if isinstance(scale, float):
        return f32(scale), None
    return f32(scale[column if scale.numel() > 1 else 0].item()), None


def scaled_row(a, at, row):
    out, bias = [], a.get("bias")
    tokens = a.get("x1Scale", a.get("pertokenScaleOptional"))
    whole = bias is not None and bias.dtype == torch.int32
    for column, total in enumerate(row):
        scale, own = scale_and_offset(a, column)
        y = f32(total + bias[column].item() if whole else total) * scale
        y = y * f32(tokens[at].item()) if tokens is not None else y
        y = y + f32(bias[column].item()) if bias is not None and not whole else y
        if a["output"] == "int8":
            offset = a.get("offset")
            more = f32(offset[column].item()) if offset is not None else own
            y = y if more is None else y + more
        out.append(y)
    return out


def product_reference(a):
    dtype = OUTPUTS[a["output"]]
    if a.get("dims"):
        both = [[scaled_row(a, at, row) for at, row in enumerate(sums)] for sums in sums_of(a)]
        out = [[float(one + two) for one, two in zip(*rows_of)] for rows_of in zip(*both)]
        return {"out": shaped(out, (1, M, N) if a["keepDims"] else (M, N)).to(dtype)}
    out = [scaled_row(a, at, row) for at, row in enumerate(sums_of(a))]
    if a["output"] == "int8":
        return {"out": numbers_of([half_even(one) for row in out for one in row], (M, N), 2)}
    return {"out": torch.tensor([float(one) for row in out for one in row]).reshape(M, N).to(dtype)}


def case_weight(dice):
    kind = dice.choice([2, 29, 3])
    whole = torch.randint(KINDS[kind][0], KINDS[kind][1] + 1, (64, N), dtype=torch.int8)
    weight = words(whole.flatten().tolist(), whole.shape) if kind == 3 else aclnn.Int4(whole) if kind == 29 else whole
    group = dice.choice([0, 32])
    dtype = dice.choice([torch.float16, torch.bfloat16])
    shape = (2, N) if group else dice.choice([(N,), (1,), (1, N)])
    rounds = dice.random() < 0.3
    scales = [packed_scale(one, 3) for one in (torch.rand(N) * 10).tolist()] if rounds else None
    return {"x": draw(M, 64, dtype=dtype), "whole": whole, "weight": weight,
            "antiquantScale": (torch.rand(shape) * 0.01).to(dtype),
            "antiquantOffsetOptional": some(dice, draw(*shape, dtype=dtype)),
            "quantScaleOptional": torch.tensor(scales) if rounds else None, "scales": scales,
            "biasOptional": some(dice, draw(N, dtype=torch.float32)), "antiquantGroupSize": group, "innerPrecise": 0}


def weight_reference(a):
    from loops import Near
    scales, offsets = a["antiquantScale"].double(), a["antiquantOffsetOptional"]
    out = []
    for row in rows(a["x"]):
        one = []
        for column in range(N):
            total = a["biasOptional"][column].item() if a["biasOptional"] is not None else 0.0
            for k, x in enumerate(row):
                place = (k // 32, column) if a["antiquantGroupSize"] else (0, column)
                pick = (lambda t: t.double().reshape(-1, t.shape[-1])[place if t.numel() > 1 else (0, 0)].item())
                more = pick(offsets) if offsets is not None else 0.0
                total += x * (a["whole"][k, column].item() + more) * pick(scales)
            one.append(total)
        out.append(one)
    if a["scales"]:
        out = [[one * float(numpy.uint32(bits & 0xFFFFE000).view(f32)) + 3 for one, bits in zip(row, a["scales"])]
               for row in out]
        return {"y": Near(shaped(out, (M, N)))}
    return {"y": shaped(out, (M, N)).to(a["x"].dtype)}


CASES = {
    "DynamicQuant": (case_dynamic, dynamic_reference),
    "DynamicQuantV2": (case_dynamic_v2, dynamic_reference),
    "DynamicQuantV3": (case_dynamic_v3, dynamic_reference),
    "DynamicQuantV4": (case_dynamic_v3, dynamic_reference),
    "AscendQuant": (case_ascend, ascend_reference),
    "AscendQuantV3": (case_ascend_v3, ascend_reference),
    "AscendAntiQuant": (case_back, back_reference),
    "Quantize": (case_quantize, quantize_reference),
    "GroupQuant": (case_group, group_reference),
    "DequantBias": (case_bias, bias_reference),
    "TransQuantParamV2": (case_param_v2, param_reference),
    "TransQuantParamV3": (case_param, param_reference),
    "ConvertWeightToINT4Pack": (case_convert, convert_reference),
    "QuantMatmul": (case_product_v1, product_reference),
    "QuantMatmulV2": (case_product_v2, product_reference),
    "QuantMatmulV3": (case_product_v3, product_reference),
    "QuantMatmulV4": (case_product_v4, product_reference),
    "QuantMatmulV5": (case_product_v5, product_reference),
    "QuantMatmulWeightNz": (case_product_v5, product_reference),
    "QuantMatmulReduceSumWeightNz": (case_product_sum, product_reference),
    "WeightQuantBatchMatmulV2": (case_weight, weight_reference),
    "WeightQuantBatchMatmulV3": (case_weight, weight_reference),
    "WeightQuantBatchMatmulNz": (case_weight, weight_reference),
}
