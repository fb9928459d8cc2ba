# SPDX-License-Identifier: Apache-2.0
"""Gated activations: arguments and references."""

import itertools
import math

import torch

from family_norms import DTYPES, draw, shape_of, some
from loops import Near, flat, gelu, gradient, row_scale, rows, shaped, sigmoid, silu


def halves(x, dim, interleaved=False):
    """Pairs of the two halves along dim: lists of floats, and their shape."""
    moved = x.movedim(dim, -1)
    half = moved.shape[-1] // 2
    pairs = []
    for row in rows(moved):
        pairs += [(row[2 * at], row[2 * at + 1]) if interleaved else (row[at], row[half + at]) for at in range(half)]
    return pairs, (*moved.shape[:-1], half)


def gated(x, dim, function, interleaved=False):
    pairs, shape = halves(x, dim, interleaved)
    return shaped([function(one, two) for one, two in pairs], shape).movedim(-1, dim)


def swiglu(x, dim):
    return gated(x, dim, lambda one, two: silu(one) * two)


def case_swiglu(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    return {"x": x, "dim": -1}


def swiglu_reference(a):
    return {"out": swiglu(a["x"], a["dim"]).to(a["x"].dtype)}


def case_swiglu_grad(dice):
    a = case_swiglu(dice)
    x = a["x"]
    return {"yGrad": draw(*x.shape[:-1], x.shape[-1] // 2, dtype=x.dtype), **a}


def swiglu_grad_reference(a):
    return {"out": gradient(lambda x: swiglu(x, a["dim"]), [a["x"]], 0, a["yGrad"]).to(a["x"].dtype)}


def case_geglu(dice):
    return {"self": draw(3, 8, 2, dtype=dice.choice(DTYPES)), "dim": dice.choice([1, -2]), "approximate": dice.randrange(2),
            "activateLeft": dice.random() < 0.5}


def case_geglu_v1(dice):
    a = case_geglu(dice)
    del a["activateLeft"]
    return a


def geglu(x, a):
    tanh = a["approximate"] == 1
    if a.get("activateLeft", True):
        return gated(x, a["dim"], lambda one, two: gelu(one, tanh) * two)
    return gated(x, a["dim"], lambda one, two: one * gelu(two, tanh))


def gelu_of(a):
    left, tanh = a.get("activateLeft", True), a["approximate"] == 1
    return gated(a["self"], a["dim"], lambda one, two: gelu(one if left else two, tanh))


def geglu_reference(a):
    dtype = a["self"].dtype
    return {"out": geglu(a["self"], a).to(dtype), "outGelu": gelu_of(a).to(dtype)}


def with_gradient(maker):
    def case(dice):
        a = maker(dice)
        return {"gradOutput": draw(3, 4, 2, dtype=a["self"].dtype), "gelu": gelu_of(a).to(a["self"].dtype), **a}
    return case


def geglu_grad_reference(a):
    return {"gradInput": gradient(lambda x: geglu(x, a), [a["self"]], 0, a["gradOutput"]).to(a["self"].dtype)}


def case_silu_mul(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    return {"x": x, "y": draw(*x.shape, dtype=x.dtype)}


def silu_mul_reference(a):
    x = a["x"]
    return {"out": shaped([silu(one) * two for one, two in zip(flat(x), flat(a["y"]))], x.shape).to(x.dtype)}


def case_gelu_mul(dice):
    return {"input": draw(*shape_of(dice), dtype=dice.choice(DTYPES)), "approximateOptional": dice.choice([None, "none", "tanh"])}


def gelu_mul_reference(a):
    x, out = a["input"], []
    for row in rows(x):
        half = len(row) // 2
        out.append([gelu(one, a["approximateOptional"] == "tanh") * two for one, two in zip(row[:half], row[half:])])
    return {"out": shaped(out, (*x.shape[:-1], x.shape[-1] // 2)).to(x.dtype)}


def case_clipped(dice):
    dim, shape = dice.choice([(-1, (6, 8)), (1, (6, 8, 2)), (2, (2, 3, 8)), (-2, (2, 3, 4, 2))])
    x = draw(*shape, dtype=dice.choice(DTYPES)) * 2
    return {"x": x, "groupIndexOptional": dice.choice([None, torch.tensor([2, 1, 2])]), "dim": dim, "alpha": 1.702,
            "limit": 1.5, "bias": 1.0, "interleaved": dice.random() < 0.5, "clampMode": 0}


def clipped(x, a):
    """The dims from dim on are one dim here; those before it are rows, of which groups may have some."""
    def gate(one, two):
        one, two = min(one, a["limit"]), min(max(two, -a["limit"]), a["limit"])
        return one * sigmoid(a["alpha"] * one) * (two + a["bias"])
    shape, dim = list(x.shape), a["dim"] % x.dim()
    y = gated(x.reshape(math.prod(shape[:dim]), -1), -1, gate, a["interleaved"])
    if a["groupIndexOptional"] is not None:
        y[a["groupIndexOptional"].sum():] = 0
    shape[dim] //= 2
    return y.reshape(shape)


def clipped_reference(a):
    return {"out": clipped(a["x"], a).to(a["x"].dtype)}


def case_clipped_grad(dice):
    a = case_clipped(dice)
    del a["clampMode"]
    shape = list(a["x"].shape)
    shape[a["dim"]] //= 2
    return {"gradY": draw(*shape, dtype=a["x"].dtype), **a}


def clipped_grad_reference(a):
    return {"gradXOut": gradient(lambda x: clipped(x, a), [a["x"]], 0, a["gradY"]).to(a["x"].dtype)}


def group_of_rows(counts, total):
    groups = list(itertools.chain.from_iterable([place] * count for place, count in enumerate(counts)))
    return groups + [None] * (total - len(groups))


def of_group(numbers, group, grouped, column):
    """The factor of a column in a row of that group."""
    if numbers is None:
        return None
    if not grouped:
        return flat(numbers)[column if numbers.numel() > 1 else 0]
    row = flat(numbers[group])
    return row[column if len(row) > 1 else 0]


def quantised(y, a, factor, offset, divides, groups):
    """Rows of floats: rounded with their scales. Rows of no group are 0."""
    grouped, dynamic = groups is not None, (a["quantModeOptional"] or "static") == "dynamic"
    values, scales = [], []
    for at, row in enumerate(y):
        group = groups[at] if grouped else 0
        if group is None:
            values.append([0.0] * len(row))
            scales.append(0.0)
            continue
        factors = [of_group(factor, group, grouped, column) for column in range(len(row))]
        shifts = [of_group(offset, group, grouped, column) or 0.0 for column in range(len(row))]
        scaled = [one if by is None else one / by if divides and not dynamic else one * by for one, by in zip(row, factors)]
        if dynamic:
            scale = row_scale(scaled)
            scales.append(scale)
            values.append([one / scale if scale else 0.0 for one in scaled])
        else:
            values.append([one + shift for one, shift in zip(scaled, shifts)])
    shape = (len(y), len(y[0]))
    return {"yOut": Near(shaped(values, shape)),
            "scaleOut": shaped(scales, shape[:1], torch.float32) if dynamic else None}


def case_swiglu_quant(dice):
    groups = dice.choice([None, [2, 0, 3]])
    mode = dice.choice(["static", "dynamic"])
    shape = (8,) if groups is None else dice.choice([(3, 8), (3,)])
    return {"x": draw(6, 16, dtype=dice.choice(DTYPES)),
            "smoothScalesOptional": torch.rand(shape) * 10 + 1 if mode == "static" else some(dice, draw(*shape)),
            "offsetsOptional": some(dice, draw(*shape)) if mode == "static" else None,
            "groupIndexOptional": None if groups is None else torch.tensor([2, 2, 5]),
            "activateLeft": dice.random() < 0.5, "quantModeOptional": mode}


def case_swiglu_quant_v2(dice):
    a = case_swiglu_quant(dice) | {"groupListType": dice.randrange(2), "dstType": 2}
    if a["groupListType"] == 1 and a["groupIndexOptional"] is not None:
        a["groupIndexOptional"] = torch.tensor([2, 0, 3])
    return a


def swiglu_rows(x, left):
    function = (lambda one, two: silu(one) * two) if left else (lambda one, two: one * silu(two))
    return rows(gated(x, -1, function))


def swiglu_quant_reference(a):
    groups = None if a["groupIndexOptional"] is None else group_of_rows([2, 0, 3], 6)
    return quantised(swiglu_rows(a["x"], a["activateLeft"]), a, a["smoothScalesOptional"], a["offsetsOptional"], False,
                     groups)


def case_dequant(dice):
    grouped, whole = dice.random() < 0.5, dice.random() < 0.7
    mode = dice.choice(["static", "dynamic"])
    wide, narrow = ((3, 16), (3, 8)) if grouped else ((16,), (8,))
    x = torch.randint(-100, 100, (6, 16), dtype=torch.int32) if whole else draw(6, 16, dtype=dice.choice(DTYPES[1:]))
    bias = dice.choice([None, draw(*wide), torch.randint(-50, 50, wide, dtype=torch.int32)]) if whole else None
    return {"x": x, "weightScaleOptional": torch.rand(wide) * 0.1 + 0.01 if whole else None,
            "activationScaleOptional": some(dice, torch.rand(6) * 0.5 + 0.1) if whole else None, "biasOptional": bias,
            "quantScaleOptional": torch.rand(narrow) + 0.1 if mode == "static" else some(dice, torch.rand(narrow)),
            "quantOffsetOptional": some(dice, draw(*narrow)) if mode == "static" else None,
            "groupIndexOptional": torch.tensor([2, 0, 3]) if grouped else None, "activateLeft": dice.random() < 0.5,
            "quantModeOptional": mode}


def case_dequant_v2(dice):
    return case_dequant(dice) | {"dstType": 2, "roundModeOptional": "rint", "activateDim": -1,
                                 "swigluMode": dice.randrange(2), "clampLimit": 2.0, "gluAlpha": 1.702, "gluBias": 1.0}


def dequant_reference(a):
    groups = group_of_rows([2, 0, 3], 6) if a["groupIndexOptional"] is not None else None
    grouped, bias = groups is not None, a["biasOptional"]
    wide = []
    for at, row in enumerate(rows(a["x"])):
        group = (groups[at] or 0) if grouped else 0
        one = []
        for column, x in enumerate(row):
            more = of_group(bias, group, grouped, column) or 0.0
            whole = bias is not None and not bias.dtype.is_floating_point
            x = x + more if whole else x
            by = of_group(a["weightScaleOptional"], group, grouped, column)
            x = x if by is None else x * by
            x = x if a["activationScaleOptional"] is None else x * a["activationScaleOptional"][at].item()
            one.append(x if whole else x + more)
        wide.append(one)
    x = shaped(wide, (6, 16))
    if a.get("swigluMode"):
        y = rows(clipped(x, {"limit": a["clampLimit"], "alpha": a["gluAlpha"], "bias": a["gluBias"], "dim": -1,
                             "interleaved": True, "groupIndexOptional": None}))
    else:
        y = swiglu_rows(x, a["activateLeft"])
    return quantised(y, a, a["quantScaleOptional"], a["quantOffsetOptional"], True, groups)


def case_gelu_quant(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    mode = dice.choice(["static", "dynamic"])
    scale = torch.rand(dice.choice([1, x.shape[-1]])) * 20 + 1
    return {"self": x, "inputScaleOptional": scale if mode == "static" else some(dice, scale),
            "inputOffsetOptional": some(dice, draw(*scale.shape)) if mode == "static" else None,
            "approximate": dice.choice(["none", "tanh"]), "quantMode": mode, "roundMode": "rint", "dstType": 2}


def gelu_quant_reference(a):
    x = a["self"]
    y = [[gelu(one, a["approximate"] == "tanh") for one in row] for row in rows(x)]
    found = quantised(y, {"quantModeOptional": a["quantMode"]}, a["inputScaleOptional"], a["inputOffsetOptional"], False, None)
    numbers, scale = found["yOut"], found["scaleOut"]
    return {"y": Near(numbers.values.reshape(x.shape)),
            "outScaleOptional": scale.reshape(x.shape[:-1]) if scale is not None else None}


CASES = {
    "SwiGlu": (case_swiglu, swiglu_reference),
    "SwiGluGrad": (case_swiglu_grad, swiglu_grad_reference),
    "GeGlu": (case_geglu_v1, geglu_reference),
    "GeGluV3": (case_geglu, geglu_reference),
    "GeGluBackward": (with_gradient(case_geglu_v1), geglu_grad_reference),
    "GeGluV3Backward": (with_gradient(case_geglu), geglu_grad_reference),
    "GeluMul": (case_gelu_mul, gelu_mul_reference),
    "SiluMul": (case_silu_mul, silu_mul_reference),
    "ClippedSwiglu": (case_clipped, clipped_reference),
    "ClippedSwigluV2": (case_clipped, clipped_reference),
    "ClippedSwigluGrad": (case_clipped_grad, clipped_grad_reference),
    "SwiGluQuant": (case_swiglu_quant, swiglu_quant_reference),
    "SwiGluQuantV2": (case_swiglu_quant_v2, swiglu_quant_reference),
    "DequantSwigluQuant": (case_dequant, dequant_reference),
    "DequantSwigluQuantV2": (case_dequant_v2, dequant_reference),
    "GeluQuant": (case_gelu_quant, gelu_quant_reference),
}
