# SPDX-License-Identifier: Apache-2.0
"""Norms: arguments and references."""

import math

import torch

from loops import Near, by_row, flat, gradient, rows, shaped, sigmoid

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def draw(*shape, dtype=torch.float32):
    return torch.randn(shape).to(dtype)


def some(dice, value, chance=0.5):
    return value if dice.random() < chance else None


def shape_of(dice, least=1, most=3):
    return [dice.choice([1, 2, 3]) for _ in range(dice.randint(least, most))] + [dice.choice([4, 8, 16])]


# --- root mean square norms

def rms(x, gamma, epsilon, beta=None):
    """Returns norm and rstd in float64, by rows of gamma's dims."""
    weights, shifts = flat(gamma), flat(beta) if beta is not None else [0.0] * gamma.numel()
    out, roots = [], []
    for row in rows(x, gamma.dim()):
        root = 1 / math.sqrt(sum(one * one for one in row) / len(row) + epsilon)
        roots.append(root)
        out.append([one * root * weight + shift for one, weight, shift in zip(row, weights, shifts)])
    kept = list(x.shape[:x.dim() - gamma.dim()]) + [1] * gamma.dim()
    return shaped(out, x.shape), shaped(roots, kept, torch.float32)


def added(values):
    """x1 + x2 in their dtype."""
    return (values["x1"].double() + values["x2"].double()).to(values["x1"].dtype)


def fixed(y, scale, offset, divides):
    """Before rounding."""
    size = y.shape[-1]
    scales = flat(scale) * (size if scale.numel() == 1 else 1)
    offsets = flat(offset) * (size if offset.numel() == 1 else 1) if offset is not None else [0.0] * size
    return Near(shaped([[one / factor + more if divides else one * factor + more
                         for one, factor, more in zip(row, scales, offsets)] for row in rows(y)], y.shape))


def smoothed(y, smooth):
    factors = flat(smooth) if smooth is not None else [1.0] * y.shape[-1]
    return by_row([[one * factor for one, factor in zip(row, factors)] for row in rows(y)], y.shape)


def rms_grad(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    gamma = draw(*x.shape[-dice.choice([1, min(2, x.dim())]):])
    return {"dy": draw(*x.shape, dtype=x.dtype), "x": x, "rstd": rms(x, gamma, 1e-6)[1], "gamma": gamma}


def rms_grad_reference(a):
    """By finite differences of the loops."""
    def norm(x, gamma):
        return rms(x, gamma, 1e-6)[0]
    given = [a["x"], a["gamma"]]
    return {"dxOut": gradient(norm, given, 0, a["dy"]).to(a["x"].dtype),
            "dgammaOut": gradient(norm, given, 1, a["dy"]).float()}


def rms_grad_quant(dice):
    a = rms_grad(dice)
    scale = torch.rand(a["x"].shape[-1] if dice.random() < 0.5 else 1) * 0.1 + 0.02
    return a | {"scalesX": scale, "offsetXOptional": some(dice, torch.randint(-5, 5, scale.shape).int()),
                "quantMode": "static", "divMode": dice.random() < 0.5}


def rms_grad_quant_reference(a):
    exact = rms_grad_reference(a | {"x": a["x"].double()})
    return {"dxOut": fixed(exact["dxOut"], a["scalesX"], a["offsetXOptional"], a["divMode"]), "dgammaOut": exact["dgammaOut"]}


def rms_quant(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    scale = torch.rand(x.shape[-1] if dice.random() < 0.5 else 1) * 0.1 + 0.01
    return {"x": x, "gamma": draw(x.shape[-1]), "beta": some(dice, draw(x.shape[-1])), "scale": scale,
            "offset": some(dice, torch.randint(-5, 5, scale.shape).to(torch.int8)), "epsilon": 1e-5,
            "divMode": dice.random() < 0.5, "outputRstd": True}


def rms_quant_v1(dice):
    return {key: value for key, value in rms_quant(dice).items() if key not in ("divMode", "outputRstd")}


def rms_quant_reference(a):
    y, root = rms(a["x"], a["gamma"], a["epsilon"], a["beta"])
    return {"y": fixed(y, a["scale"], a["offset"], a.get("divMode", True)), "rstd": root}


def rms_dynamic(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    return {"x": x, "gamma": draw(x.shape[-1]), "smoothScalesOptional": some(dice, draw(x.shape[-1])),
            "betaOptional": some(dice, draw(x.shape[-1])), "epsilon": 1e-5, "dstType": 2}


def rms_dynamic_reference(a):
    y = rms(a["x"], a["gamma"], a["epsilon"], a["betaOptional"])[0]
    numbers, scale = smoothed(y, a["smoothScalesOptional"])
    return {"yOut": numbers, "scaleOut": scale}


def add_rms(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    return {"x1": x, "x2": draw(*x.shape, dtype=x.dtype), "gamma": draw(x.shape[-1]), "epsilon": 1e-5}


def add_rms_in_place(dice):
    a = add_rms(dice)
    return {"x1Ref": a["x1"], "x2Ref": a["x2"], "gamma": a["gamma"], "epsilon": 1e-5}


def add_rms_in_place_reference(a):
    x = added({"x1": a["x1Ref"], "x2": a["x2Ref"]})
    y, root = rms(x, a["gamma"], a["epsilon"])
    return {"x1Ref": y.to(x.dtype), "x2Ref": x, "rstdOut": root}


def add_rms_cast_reference(a):
    x = added(a)
    y, root = rms(x, a["gamma"], a["epsilon"])
    return {"y1Out": y.float(), "y2Out": y.to(x.dtype), "rstdOut": root, "xOut": x}


def add_rms_quant(dice):
    a = add_rms(dice)
    size = a["x1"].shape[-1]
    two = dice.random() < 0.5
    return a | {"scales1": torch.rand(size) * 0.1 + 0.01, "scales2Optional": torch.rand(size) + 0.5 if two else None,
                "zeroPoints1Optional": some(dice, torch.randint(-5, 5, (size,), dtype=torch.int32)),
                "zeroPoints2Optional": torch.randint(-5, 5, (size,), dtype=torch.int32) if two else None,
                "betaOptional": some(dice, draw(size)), "axis": -1, "divMode": dice.random() < 0.5}


def add_rms_quant_reference(a):
    x = added(a)
    y = rms(x, a["gamma"], a["epsilon"], a.get("betaOptional"))[0]
    second = a["scales2Optional"] is not None
    return {"y1Out": fixed(y, a["scales1"], a["zeroPoints1Optional"], a["divMode"]), "xOut": x,
            "y2Out": fixed(y, a["scales2Optional"], a["zeroPoints2Optional"], a["divMode"]) if second else None,
            "rmsNormOut": y.to(x.dtype)}


def add_rms_quant_v1(dice):
    return {key: value for key, value in add_rms_quant(dice).items() if key != "betaOptional"}


def add_rms_dynamic(dice):
    a = add_rms(dice)
    size = a["x1"].shape[-1]
    first = some(dice, draw(size))
    return a | {"smoothScale1Optional": first,
                "smoothScale2Optional": some(dice, draw(size)) if first is not None else None}


def add_rms_dynamic_v2(dice):
    a = add_rms_dynamic(dice)
    mask = dice.choice([None, [True, True], [False, True], [True, False]])
    return a | {"betaOptional": some(dice, draw(a["x1"].shape[-1])), "outputMask": mask}


def add_rms_dynamic_reference(a):
    x = added(a)
    y = rms(x, a["gamma"], a["epsilon"], a.get("betaOptional"))[0]
    mask = a.get("outputMask") or [True, a["smoothScale2Optional"] is not None]
    one, two = (smoothed(y, a[f"smoothScale{place}Optional"]) if wanted else (None, None)
                for place, wanted in enumerate(mask, 1))
    return {"y1Out": one[0], "y2Out": two[0], "xOut": x, "scale1Out": one[1], "scale2Out": two[1]}


# --- layer norms

def layer(x, dims, epsilon, gamma=None, beta=None, moments=None):
    """Returns norm, mean and rstd in float64."""
    size = math.prod(x.shape[x.dim() - dims:])
    weights = flat(gamma) if gamma is not None else [1.0] * size
    shifts = flat(beta) if beta is not None else [0.0] * size
    out, means, roots = [], [], []
    for row in rows(x, dims):
        mean = sum(row) / size
        root = 1 / math.sqrt(sum((one - mean) ** 2 for one in row) / size + epsilon)
        means.append(mean)
        roots.append(root)
        out.append([(one - mean) * root * weight + shift for one, weight, shift in zip(row, weights, shifts)])
    kept = list(x.shape[:x.dim() - dims]) + [1] * dims
    return shaped(out, x.shape), shaped(means, kept, torch.float32), shaped(roots, kept, torch.float32)


def layer_norm(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    shape = list(x.shape[-dice.choice([1, 2]):])
    return {"input": x, "normalizedShape": shape, "weightOptional": some(dice, draw(*shape)),
            "biasOptional": some(dice, draw(*shape)), "eps": 1e-5, "implMode": 0}


def layer_norm_reference(a):
    y, mean, root = layer(a["input"], len(a["normalizedShape"]), a["eps"], a["weightOptional"], a["biasOptional"])
    return {"out": y.to(a["input"].dtype), "meanOutOptional": mean, "rstdOutOptional": root}


def add_layer(dice):
    a = add_rms(dice)
    shape = a["x1"].shape
    return a | {"beta": draw(shape[-1]), "biasOptional": dice.choice([None, draw(shape[-1]), draw(*shape)]),
                "additionalOutput": dice.random() < 0.5}


def summed(a):
    total = a["x1"].double() + a["x2"].double()
    return total + a["biasOptional"].double() if a.get("biasOptional") is not None else total


def add_layer_reference(a):
    x = summed(a)
    y, mean, root = layer(x, 1, a["epsilon"], a["gamma"], a["beta"])
    dtype = a["x1"].dtype
    return {"yOut": y.to(dtype), "meanOut": mean, "rstdOut": root, "xOut": x.to(dtype) if a["additionalOutput"] else None}


def add_layer_grad(dice):
    a = add_rms(dice)
    x = a["x1"]
    _, mean, root = layer(summed(a), 1, 1e-5)
    return {"dy": draw(*x.shape, dtype=x.dtype), "x1": x, "x2": a["x2"], "rstd": root, "mean": mean,
            "gamma": a["gamma"], "dsumOptional": some(dice, draw(*x.shape, dtype=x.dtype))}


def add_layer_grad_reference(a):
    def norm(x, gamma, beta):
        return layer(x, 1, 1e-5, gamma, beta)[0]
    given = [summed(a), a["gamma"], torch.zeros_like(a["gamma"])]
    dx = gradient(norm, given, 0, a["dy"])
    if a["dsumOptional"] is not None:
        dx += a["dsumOptional"].double()
    return {"dxOut": dx.to(a["x1"].dtype), "dgammaOut": gradient(norm, given, 1, a["dy"]).float(),
            "dbetaOut": gradient(norm, given, 2, a["dy"]).float()}


def add_layer_quant(dice):
    a = add_layer(dice)
    size = a["x1"].shape[-1]
    static, two = dice.random() < 0.5, dice.random() < 0.5
    one = torch.rand(size) * 0.1 + 0.02
    return a | {"scales1Optional": one if static else some(dice, one),
                "scales2Optional": torch.rand(size) + 0.1 if two else None,
                "zeroPoints1Optional": some(dice, draw(size)) if static else None,
                "zeroPoints2Optional": some(dice, draw(size)) if static and two else None,
                "quantMode": "static" if static else "dynamic", "divMode": dice.random() < 0.5}


def add_layer_quant_reference(a):
    x = summed(a)
    y = layer(x, 1, a["epsilon"], a["gamma"], a["beta"])[0]
    dtype = a["x1"].dtype
    results = {"xOut": x.to(dtype) if a["additionalOutput"] else None, "layernormRes": y.to(dtype)}
    for place in "12":
        scales, offsets = a[f"scales{place}Optional"], a[f"zeroPoints{place}Optional"]
        numbers = scale = None
        if a["quantMode"] == "static" and scales is not None:
            numbers = fixed(y, scales, offsets, a["divMode"])
        elif a["quantMode"] == "dynamic" and (scales is not None or place == "1"):
            numbers, scale = smoothed(y, scales)
        results |= {f"y{place}Out": numbers, f"outScales{place}Out": scale}
    return results


def deep(dice):
    a = add_rms(dice)
    return {"x": a["x1"], "gx": a["x2"], "beta": draw(a["gamma"].numel()), "gamma": a["gamma"], "alpha": 0.75,
            "epsilon": 1e-5}


def deep_sum(a):
    return a["x"].double() * a["alpha"] + a["gx"].double()


def deep_reference(a):
    y, mean, root = layer(deep_sum(a), 1, a["epsilon"], a["gamma"], a["beta"])
    return {"meanOut": mean, "rstdOut": root, "yOut": y.to(a["x"].dtype)}


def deep_grad(dice):
    a = deep(dice)
    _, mean, root = layer(deep_sum(a), 1, 1e-5)
    return {"dy": draw(*a["x"].shape, dtype=a["x"].dtype), "x": a["x"], "gx": a["gx"], "gamma": a["gamma"],
            "mean": mean, "rstd": root, "alpha": a["alpha"]}


def deep_grad_reference(a):
    def norm(x, gx, beta, gamma):
        return layer(x * a["alpha"] + gx, 1, 1e-5, gamma, beta)[0]
    given = [a["x"], a["gx"], torch.zeros_like(a["gamma"]), a["gamma"]]
    found = [gradient(norm, given, place, a["dy"]) for place in range(4)]
    dtype = a["x"].dtype
    return {"dxOut": found[0].to(dtype), "dgxOut": found[1].to(dtype), "dbetaOut": found[2].float(),
            "dgammaOut": found[3].float()}


def ada(dice):
    x = draw(2, 3, 8, dtype=dice.choice(DTYPES))
    shape = dice.choice([(2, 8), (2, 1, 8)])
    return {"x": x, "scale": draw(*shape, dtype=x.dtype), "shift": draw(*shape, dtype=x.dtype),
            "weightOptional": some(dice, draw(8)), "biasOptional": some(dice, draw(8)), "epsilon": 1e-5}


def adapted(x, scale, shift, weight, bias):
    y = rows(layer(x, 1, 1e-5, weight, bias)[0])
    factors, shifts = rows(scale), rows(shift)
    tokens = x.shape[1]
    return shaped([[one * (1 + factor) + more for one, factor, more in zip(row, factors[at // tokens], shifts[at // tokens])]
                   for at, row in enumerate(y)], x.shape)


def ada_reference(a):
    y = adapted(a["x"], a["scale"], a["shift"], a["weightOptional"], a["biasOptional"])
    _, mean, root = layer(a["x"], 1, a["epsilon"])
    return {"out": y.to(a["x"].dtype), "meanOutOptional": mean, "rstdOutOptional": root}


def ada_quant(dice):
    return ada(dice) | {"smoothScalesOptional": some(dice, draw(8)), "quantMode": "dynamic"}


def ada_quant_reference(a):
    y = adapted(a["x"], a["scale"], a["shift"], a["weightOptional"], a["biasOptional"])
    numbers, scale = smoothed(y, a["smoothScalesOptional"])
    return {"out": numbers, "quantScale": scale, "quantOffsetOptional": None}


def ada_backward(dice):
    a = ada(dice)
    _, mean, root = layer(a["x"], 1, 1e-5)
    return {"gradOut": draw(*a["x"].shape, dtype=a["x"].dtype), "input": a["x"], "normalizedShape": [8], "rstd": root,
            "mean": mean} | {word: a[word] for word in ("scale", "shift", "weightOptional", "biasOptional")}


def ada_backward_reference(a):
    weight = a["weightOptional"] if a["weightOptional"] is not None else torch.ones(8)
    bias = a["biasOptional"] if a["biasOptional"] is not None else torch.zeros(8)
    given = [a["input"], a["scale"], a["shift"], weight, bias]
    found = [gradient(adapted, given, place, a["gradOut"]) for place in range(5)]
    dtype = a["input"].dtype
    return {"gradInputOut": found[0].to(dtype), "gradScaleOut": found[1].to(dtype), "gradShiftOut": found[2].to(dtype),
            "gradWeightOut": found[3].float(), "gradBiasOut": found[4].float()}


# --- norms of groups of channels

def group(x, groups, epsilon, gamma=None, beta=None):
    """Returns norm, mean and rstd; x is [N, C, ...]."""
    grouped = x.reshape(x.shape[0], groups, -1)
    y, mean, root = layer(grouped, 1, epsilon)
    size = x[0, 0].numel()
    weights = flat(gamma) if gamma is not None else [1.0] * x.shape[1]
    shifts = flat(beta) if beta is not None else [0.0] * x.shape[1]
    out = [one * weights[at // size % x.shape[1]] + shifts[at // size % x.shape[1]] for at, one in enumerate(flat(y))]
    return shaped(out, x.shape), mean.squeeze(-1), root.squeeze(-1)


def group_norm(dice):
    x = draw(2, 6, *dice.choice([(3,), (2, 2), ()]), dtype=dice.choice(DTYPES))
    return {"self": x, "gamma": some(dice, draw(6)), "beta": some(dice, draw(6)), "group": dice.choice([1, 2, 3]),
            "eps": 1e-5, "activateSilu": dice.random() < 0.5}


def group_norm_v1(dice):
    return {key: value for key, value in group_norm(dice).items() if key != "activateSilu"}


def activated(y, active, scale=1.0):
    return shaped([one * sigmoid(one * scale) for one in flat(y)], y.shape) if active else y


def group_norm_reference(a):
    y, mean, root = group(a["self"], a["group"], a["eps"], a["gamma"], a["beta"])
    return {"out": activated(y, a.get("activateSilu", True)).to(a["self"].dtype), "meanOut": mean, "rstdOut": root}


def group_quant(dice):
    return group_norm(dice) | {"quantScale": torch.rand(dice.choice([1, 6])) * 0.1 + 0.02}


def group_quant_reference(a):
    y, mean, root = group(a["self"], a["group"], a["eps"], a["gamma"], a["beta"])
    y, size = activated(y, a["activateSilu"]), a["self"][0, 0].numel()
    scales = flat(a["quantScale"]) * (6 // a["quantScale"].numel())
    return {"out": Near(shaped([one / scales[at // size % 6] for at, one in enumerate(flat(y))], y.shape)),
            "meanOut": mean, "rstdOut": root}


def swish(dice):
    x = draw(2, 6, *dice.choice([(3,), (2, 2), ()]), dtype=dice.choice(DTYPES))
    return {"x": x, "gamma": draw(6), "beta": draw(6), "numGroups": dice.choice([1, 2, 3]),
            "dataFormatOptional": dice.choice([None, "NCHW"]), "eps": 1e-5, "activateSwish": dice.random() < 0.5,
            "swishScale": 1.5}


def swish_reference(a):
    y, mean, root = group(a["x"], a["numGroups"], a["eps"], a["gamma"], a["beta"])
    return {"yOut": activated(y, a["activateSwish"], a["swishScale"]).to(a["x"].dtype), "meanOut": mean, "rstdOut": root}


def swish_grad(dice):
    a = swish(dice)
    _, mean, root = group(a["x"], a["numGroups"], 1e-5)
    return {"dy": draw(*a["x"].shape, dtype=a["x"].dtype), "mean": mean, "rstd": root, "x": a["x"], "gamma": a["gamma"],
            "beta": a["beta"], "numGroups": a["numGroups"], "dataFormatOptional": None, "swishScale": 1.5,
            "dgammaIsRequire": True, "dbetaIsRequire": dice.random() < 0.5}


def swish_grad_reference(a):
    def norm(x, gamma, beta):
        return activated(group(x, a["numGroups"], 1e-5, gamma, beta)[0], True, a["swishScale"])
    given = [a["x"], a["gamma"], a["beta"]]
    dx, dgamma, dbeta = (gradient(norm, given, place, a["dy"]) for place in range(3))
    return {"dxOut": dx.to(a["x"].dtype), "dgammaOut": dgamma.float(),
            "dbetaOut": dbeta.float() if a["dbetaIsRequire"] else None}


def instance(dice):
    return {"x": draw(2, 3, 2, 4, dtype=dice.choice(DTYPES)), "gamma": draw(3), "beta": draw(3), "dataFormat": "NCHW",
            "eps": 1e-5}


def instance_reference(a):
    y, mean, root = group(a["x"], 3, a["eps"], a["gamma"], a["beta"])
    variance = [1 / one ** 2 - a["eps"] for one in flat(root)]
    return {"y": y.to(a["x"].dtype), "mean": mean, "variance": shaped(variance, mean.shape, torch.float32)}


def plain_rms(dice):
    x = draw(*shape_of(dice), dtype=dice.choice(DTYPES))
    return {"x": x, "gamma": draw(*x.shape[-dice.choice([1, 2]):]), "epsilon": 1e-5}


def plain_rms_reference(a):
    y, root = rms(a["x"], a["gamma"], a["epsilon"])
    return {"yOut": y.to(a["x"].dtype), "rstdOut": root}


def gemma_reference(a):
    return plain_rms_reference(a | {"gamma": a["gamma"].double() + 1})


def add_rms_reference(a):
    x = added(a)
    y, root = rms(x, a["gamma"], a["epsilon"])
    return {"yOut": y.to(x.dtype), "rstdOut": root, "xOut": x}


CASES = {
    "RmsNorm": (plain_rms, plain_rms_reference),
    "AddRmsNorm": (add_rms, add_rms_reference),
    "GemmaRmsNorm": (plain_rms, gemma_reference),
    "RmsNormGrad": (rms_grad, rms_grad_reference),
    "RmsNormGradQuant": (rms_grad_quant, rms_grad_quant_reference),
    "InplaceAddRmsNorm": (add_rms_in_place, add_rms_in_place_reference),
    "AddRmsNormCast": (add_rms, add_rms_cast_reference),
    "RmsNormQuant": (rms_quant_v1, rms_quant_reference),
    "RmsNormQuantV3": (rms_quant, rms_quant_reference),
    "RmsNormDynamicQuant": (rms_dynamic, rms_dynamic_reference),
    "AddRmsNormQuant": (add_rms_quant_v1, add_rms_quant_reference),
    "AddRmsNormQuantV2": (add_rms_quant, add_rms_quant_reference),
    "AddRmsNormDynamicQuant": (add_rms_dynamic, add_rms_dynamic_reference),
    "AddRmsNormDynamicQuantV2": (add_rms_dynamic_v2, add_rms_dynamic_reference),
    "FastLayerNorm": (layer_norm, layer_norm_reference),
    "LayerNormWithImplMode": (layer_norm, layer_norm_reference),
    "AddLayerNorm": (add_layer, add_layer_reference),
    "AddLayerNormGrad": (add_layer_grad, add_layer_grad_reference),
    "AddLayerNormQuant": (add_layer_quant, add_layer_quant_reference),
    "AddLayerNormQuantV2": (add_layer_quant, add_layer_quant_reference),
    "DeepNorm": (deep, deep_reference),
    "DeepNormGrad": (deep_grad, deep_grad_reference),
    "AdaLayerNorm": (ada, ada_reference),
    "AdaLayerNormV2": (ada, ada_reference),
    "AdaLayerNormQuant": (ada_quant, ada_quant_reference),
    "AdaLayerNormBackward": (ada_backward, ada_backward_reference),
    "GroupNormSilu": (group_norm_v1, group_norm_reference),
    "GroupNormSiluV2": (group_norm, group_norm_reference),
    "GroupNormSwish": (swish, swish_reference),
    "GroupNormSiluQuant": (group_quant, group_quant_reference),
    "GroupNormSwishGrad": (swish_grad, swish_grad_reference),
    "InstanceNorm": (instance, instance_reference),
}
