# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: arguments and references."""

import math

import numpy
import torch

import aclnn
from family_norms import DTYPES, draw, some
from family_quant import dynamic_row, f32, numbers_of, packed_scale, single_rows, words
from loops import Near, flat, gelu, gradient, half_even, rows, shaped, sigmoid, silu

T, K, E, H = 5, 2, 6, 8


def softmax(row):
    most = max(row)
    powers = [math.exp(one - most) for one in row]
    return [one / sum(powers) for one in powers]


def case_gating(dice):
    groups, mode = dice.choice([(1, 0), (3, 0), (3, 1)])
    return {"x": draw(T, E, dtype=dice.choice(DTYPES)), "biasOptional": some(dice, draw(E)), "k": 2,
            "kGroup": 1 if groups == 1 else 2, "groupCount": groups, "groupSelectMode": mode, "renorm": dice.randrange(2),
            "normType": dice.randrange(2), "outFlag": dice.random() < 0.5, "routedScalingFactor": 2.5, "eps": 1e-20}


def gating_reference(a):
    weights, experts, scores_of = [], [], []
    for row in rows(a["x"]):
        scores = softmax(row) if a["normType"] == 0 else [sigmoid(one) for one in row]
        merit = [one + more for one, more in zip(scores, flat(a["biasOptional"]))] if a["biasOptional"] is not None else \
            list(scores)
        size = E // a["groupCount"]
        if a["groupCount"] > 1:
            groups = [sorted(merit[begin:begin + size], reverse=True) for begin in range(0, E, size)]
            worth = [sum(group[:2]) if a["groupSelectMode"] else group[0] for group in groups]
            chosen = sorted(range(len(worth)), key=lambda group: -worth[group])[:a["kGroup"]]
            merit = [one if place // size in chosen else -math.inf for place, one in enumerate(merit)]
        best = sorted(range(E), key=lambda expert: -merit[expert])[:a["k"]]
        picked = [scores[expert] for expert in best]
        if a["normType"] == 1 or a["renorm"]:
            picked = [one / (sum(picked) + a["eps"]) for one in picked]
        weights.append([one * a["routedScalingFactor"] for one in picked])
        experts.append(best)
        scores_of.append(scores)
    return {"yOut": shaped(weights, (T, 2)).to(a["x"].dtype), "expertIdxOut": torch.tensor(experts, dtype=torch.int32),
            "outOut": shaped(scores_of, (T, E), torch.float32) if a["outFlag"] else None}


# --- routing

def route(experts, first, end):
    """The pairs (token, k) whose experts are here, in the order of their experts."""
    return sorted((pair for pair, expert in enumerate(experts) if first <= expert < end), key=lambda pair: experts[pair])


def case_routing(dice):
    padded = dice.random() < 0.4
    return {"x": draw(T, H, dtype=dice.choice(DTYPES)), "expertIdx": torch.randint(0, E, (T, K), dtype=torch.int32),
            "activeNumOptional": dice.choice([0, 7]) if not padded else 0, "expertCapacityOptional": 2 if padded else 0,
            "expertNumOptional": E, "dropPadModeOptional": int(padded),
            "expertTokensCountOrCumsumFlagOptional": 0 if padded else dice.randrange(3),
            "expertTokensBeforeCapacityFlagOptional": padded and dice.random() < 0.5}


def padded_route(experts, capacity):
    """The pair of each row, or None; and the row of each pair, or -1."""
    sources, places = [None] * (E * capacity), [-1] * len(experts)
    taken = [0] * E
    for pair in route(experts, 0, E):
        expert = experts[pair]
        if taken[expert] < capacity:
            places[pair] = expert * capacity + taken[expert]
            sources[places[pair]] = pair
        taken[expert] += 1
    return sources, places


def counted(experts, first=0, end=E):
    return [sum(one == expert for one in experts) for expert in range(first, end)]


def ends(counts):
    return [sum(counts[:place + 1]) for place in range(len(counts))]


def routing_reference(a):
    experts = a["expertIdx"].flatten().tolist()
    counts = torch.tensor(counted(experts), dtype=torch.int32)
    flag = a["expertTokensCountOrCumsumFlagOptional"]
    if a["dropPadModeOptional"]:
        sources, places = padded_route(experts, a["expertCapacityOptional"])
        shape = (E, a["expertCapacityOptional"], H)
    else:
        order = route(experts, 0, E)
        places = [order.index(pair) for pair in range(T * K)]
        sources = order[:a["activeNumOptional"] or T * K]
        shape = (len(sources), H)
    out = [[0.0] * H if pair is None else flat(a["x"][pair // K]) for pair in sources]
    return {"expandedXOut": shaped(out, shape).to(a["x"].dtype), "expandedRowIdxOut": torch.tensor(places, dtype=torch.int32),
            "expertTokensCountOrCumsumOutOptional": [None, counts.cumsum(0).int(), counts][flag],
            "expertTokensBeforeCapacityOutOptional": counts if a["expertTokensBeforeCapacityFlagOptional"] else None}


def case_routing_v3(dice):
    first, end = dice.choice([(0, E), (1, 4)])
    mode, kind = dice.choice([-1, 0, 1]), dice.randrange(3)
    scale = {-1: some(dice, torch.rand(T)), 0: torch.tensor([20.0]),
             1: dice.choice([None, draw(1, H), draw(end - first, H)])}[mode]
    return {"x": draw(T, H, dtype=dice.choice(DTYPES)), "expertIdx": torch.randint(0, E, (T, K), dtype=torch.int32),
            "scaleOptional": scale, "offsetOptional": torch.tensor([1.5]) if mode == 0 else None, "activeNum": T * K,
            "expertCapacity": 0, "expertNum": E, "dropPadMode": 0, "expertTokensNumType": kind,
            "expertTokensNumFlag": True, "quantMode": mode,
            "activeExpertRangeOptional": [first, end] if (first, end) != (0, E) else dice.choice([None, [0, E]]),
            "rowIdxType": dice.randrange(2)}


def routing_v3_reference(a):
    experts, scale = a["expertIdx"].flatten().tolist(), a["scaleOptional"]
    first, end = a["activeExpertRangeOptional"] or (0, E)
    order = route(experts, first, end)
    sources = order + [None] * (T * K - len(order))
    places = [order.index(pair) if pair in order else -1 for pair in range(T * K)]
    counts = counted(experts, first, end)
    numbers = {0: ends(counts), 1: counts}.get(a["expertTokensNumType"])
    if numbers is None:
        pairs = [[first + place, count] for place, count in enumerate(counts) if count]
        numbers = pairs + [[0, 0]] * (end - first - len(pairs))
    results = {"expandedRowIdxOut": torch.tensor(places if a["rowIdxType"] == 0 else order + [-1] * (T * K - len(order)),
                                                 dtype=torch.int32),
               "expertTokensCountOrCumsumOut": torch.tensor(numbers), "expandedScaleOut": None}
    given = single_rows(a["x"])
    lines = [[f32(0)] * H if pair is None else given[pair // K] for pair in sources]
    if a["quantMode"] == -1:
        results["expandedXOut"] = shaped([[float(one) for one in row] for row in lines], (T * K, H)).to(a["x"].dtype)
        if scale is not None:
            results["expandedScaleOut"] = torch.tensor([0.0 if pair is None else scale[pair // K].item() for pair in sources])
        return results
    out, scales = [], []
    for pair, row in zip(sources, lines):
        if a["quantMode"] == 0:
            out += [0 if pair is None else half_even(one * f32(20) + f32(1.5)) for one in row]
            continue
        if scale is not None and pair is not None:
            factors = single_rows(scale)[experts[pair] - first if scale.shape[0] > 1 else 0]
            row = [one * by for one, by in zip(row, factors)]
        found = dynamic_row(row, 127)
        out += found[0]
        scales.append(float(found[1]))
    results["expandedXOut"] = numbers_of(out, (T * K, H), 2)
    if a["quantMode"] == 1:
        results["expandedScaleOut"] = torch.tensor(scales)
    return results


def case_routing_grad(dice):
    padded = dice.random() < 0.5
    experts = torch.randint(0, E, (T * K,)).tolist()
    places = padded_route(experts, 2)[1] if padded else torch.randperm(T * K).tolist()
    active = 0 if padded else dice.choice([0, 7])
    shape = (E, 2, H) if padded else (active or T * K, H)
    return {"gradExpandedX": draw(*shape, dtype=dice.choice(DTYPES)), "topK": K, "dropPadMode": int(padded),
            "expandedRowIdx": torch.tensor(places, dtype=torch.int32), "activeNum": active}


def gathered(matrix, places, factors=None):
    """The sum of K rows of a matrix for each token; a place that is none counts as zeros."""
    out = []
    for token in range(len(places) // K):
        row = [0.0] * len(matrix[0])
        for k in range(K):
            place = places[token * K + k]
            if 0 <= place < len(matrix):
                by = factors[token][k] if factors else 1.0
                row = [one + more * by for one, more in zip(row, matrix[place])]
        out.append(row)
    return out


def routing_grad_reference(a):
    matrix = rows(a["gradExpandedX"].reshape(-1, H))
    return {"out": shaped(gathered(matrix, a["expandedRowIdx"].tolist()), (T, H)).to(a["gradExpandedX"].dtype)}


def case_permute(dice):
    return {"tokens": draw(T, H, dtype=dice.choice(DTYPES)), "indices": torch.randint(0, E, (T, K), dtype=torch.int32),
            "numOutTokens": dice.choice([0, 7, -2]), "paddedMode": False}


def permute_reference(a):
    order = route(a["indices"].flatten().tolist(), 0, E)
    wanted = a["numOutTokens"]
    kept = order[:wanted if wanted > 0 else T * K + wanted]
    return {"permuteTokensOut": a["tokens"][[pair // K for pair in kept]],
            "sortedIndicesOut": torch.tensor([order.index(pair) for pair in range(T * K)], dtype=torch.int32)}


def case_permute_grad(dice):
    return {"permutedOutputGrad": draw(dice.choice([T * K, 7]), H, dtype=dice.choice(DTYPES)),
            "sortedIndices": torch.randperm(T * K).int(), "numTopk": K, "paddedMode": False}


def permute_grad_reference(a):
    grad = a["permutedOutputGrad"]
    return {"out": shaped(gathered(rows(grad), a["sortedIndices"].tolist()), (T, H)).to(grad.dtype)}


def case_unpermute(dice):
    return {"permutedTokens": draw(dice.choice([T * K, 7]), H, dtype=dice.choice(DTYPES)),
            "sortedIndices": torch.randperm(T * K).int(), "probsOptional": torch.rand(T, K), "paddedMode": False}


def case_unpermute_plain(dice):
    """Without probabilities each token is one row."""
    a = case_unpermute(dice)
    if dice.random() < 0.3:
        a |= {"permutedTokens": draw(T, H), "sortedIndices": torch.randperm(T).int(), "probsOptional": None}
    return a


def unpermute_reference(a):
    matrix, places = a["permutedTokens"], a["sortedIndices"].tolist()
    if a["probsOptional"] is None:
        return {"out": matrix[places]}
    out = gathered(rows(matrix), places, rows(a["probsOptional"]))
    return {"out": shaped(out, (T, H)).to(matrix.dtype)}


def case_unpermute_grad(dice):
    a = case_unpermute(dice)
    tokens = a.pop("permutedTokens")
    return {"permuteTokens": tokens, "unpermutedTokensGrad": draw(T, H, dtype=tokens.dtype), **a}


def unpermute_grad_reference(a):
    tokens = a["permuteTokens"]

    def function(matrix, probs):
        return shaped(gathered(rows(matrix), a["sortedIndices"].tolist(), rows(probs)), (T, H))
    given = [tokens, a["probsOptional"]]
    found = [gradient(function, given, place, a["unpermutedTokensGrad"]) for place in range(2)]
    return {"permutedTokensGradOut": found[0].to(tokens.dtype), "probsGradOut": found[1].float()}


def case_finalize(dice):
    mode = dice.randrange(4)
    experts = torch.randint(0, E, (T, K), dtype=torch.int32)
    padded = mode % 2 == 1
    places = padded_route(experts.flatten().tolist(), 2)[1] if padded else torch.randperm(T * K).tolist()
    if mode <= 1:  # places by column
        places = torch.tensor(places).reshape(T, K).t().flatten().tolist()
    dtype = dice.choice(DTYPES)
    first = some(dice, draw(T, H, dtype=dtype))
    return {"expandedX": draw(*((E, 2, H) if padded else (T * K, H)), dtype=dtype),
            "expandedRowIdx": torch.tensor(places, dtype=torch.int32), "x1Optional": first,
            "x2Optional": some(dice, draw(T, H, dtype=dtype)) if first is not None else None,
            "biasOptional": some(dice, draw(E, H, dtype=dtype)), "scalesOptional": torch.rand(T, K).to(dtype),
            "expertIdxOptional": experts, "dropPadMode": mode}


def finished(matrix, places, scales, bias, experts):
    out = []
    for token in range(T):
        row = [0.0] * H
        for k in range(K):
            place = places[token * K + k]
            if place >= 0:
                more = bias[experts[token][k]] if bias else [0.0] * H
                row = [one + scales[token][k] * (x + b) for one, x, b in zip(row, matrix[place], more)]
        out.append(row)
    return out


def finalize_reference(a):
    places = a["expandedRowIdx"]
    if a["dropPadMode"] <= 1:
        places = places.reshape(K, T).t().flatten()
    bias = rows(a["biasOptional"]) if a["biasOptional"] is not None else None
    out = shaped(finished(rows(a["expandedX"].reshape(-1, H)), places.tolist(), rows(a["scalesOptional"]), bias,
                          a["expertIdxOptional"].tolist()), (T, H))
    for word in ("x1Optional", "x2Optional"):
        out = out + a[word].double() if a[word] is not None else out
    return {"out": out.to(a["expandedX"].dtype)}


def case_finalize_grad(dice):
    padded = dice.random() < 0.5
    experts = torch.randint(0, E, (T, K), dtype=torch.int32)
    places = padded_route(experts.flatten().tolist(), 2)[1] if padded else torch.randperm(T * K).tolist()
    dtype = dice.choice(DTYPES)
    return {"gradY": draw(T, H, dtype=dtype), "expandedRowIdx": torch.tensor(places, dtype=torch.int32),
            "expandedXOptional": draw(*((E, 2, H) if padded else (T * K, H)), dtype=dtype),
            "scalesOptional": torch.rand(T, K).to(dtype), "expertIdxOptional": experts,
            "biasOptional": some(dice, draw(E, H, dtype=dtype)), "dropPadMode": int(padded), "activeNum": 0,
            "expertNum": E, "expertCapacity": 2}


def finalize_grad_reference(a):
    bias = rows(a["biasOptional"]) if a["biasOptional"] is not None else None
    dtype = a["gradY"].dtype

    def function(matrix, scales):
        return shaped(finished(rows(matrix.reshape(-1, H)), a["expandedRowIdx"].tolist(), rows(scales), bias,
                               a["expertIdxOptional"].tolist()), (T, H))
    given = [a["expandedXOptional"], a["scalesOptional"]]
    found = [gradient(function, given, place, a["gradY"]).to(dtype) for place in range(2)]
    return {"gradExpandedXOut": found[0], "gradScalesOut": found[1]}


# --- grouped products

GROUPS, ROWS, INNER, COLUMNS = 3, 7, 8, 4
COUNTS = [2, 0, 4]  # one row is behind the groups


def product(one, two):
    return [[sum(x * two[k][n] for k, x in enumerate(row)) for n in range(len(two[0]))] for row in one]


def group_list(dice, tensor, types=1):
    kind = dice.randrange(types)
    if kind == 2:
        return kind, torch.tensor([[2, 4], [0, 2], [0, 0]])
    numbers = [ends(COUNTS), COUNTS][kind]
    return kind, torch.tensor(numbers) if tensor else numbers


def case_lists(dice, tensor=True, types=1):
    """Floating numbers: tensors of x each with a weight, groups of rows, or groups of columns."""
    dtype = dice.choice(DTYPES)
    shape = dice.choice(["each", "rows", "columns"]) if types > 1 else dice.choice(["each", "rows"])
    kind, groups = group_list(dice, tensor, types)
    single = dice.random() < 0.5
    weights = draw(GROUPS, INNER, COLUMNS, dtype=dtype)
    biases = some(dice, draw(GROUPS, COLUMNS, dtype=dtype))
    a = {"shape": shape, "groupListType": kind, "counts": COUNTS, "actType": dice.choice([0, 1, 2, 4, 5]) if types > 2 else 0,
         "dtype": dtype, "groupListOptional": groups, "biasOptional": None if biases is None else list(biases), "tensor": tensor}
    if shape == "each":
        return a | {"x": [draw(rows_of, INNER, dtype=dtype) for rows_of in (2, 3, 1)], "weight": list(weights),
                    "splitItem": 0, "groupType": -1, "groupListOptional": None}
    if shape == "columns":
        if kind == 2:
            a |= {"groupListType": 1, "groupListOptional": torch.tensor(COUNTS)}
        return a | {"x": [draw(3, ROWS, dtype=dtype)], "weight": [draw(ROWS, COLUMNS, dtype=dtype)], "splitItem": 2,
                    "groupType": 2, "biasOptional": None}
    return a | {"x": [draw(ROWS, INNER, dtype=dtype)], "weight": [weights] if single else list(weights), "groupType": 0,
                "splitItem": dice.choice([2, 3]) if kind == 2 else dice.choice([0, 1, 2, 3])}


def activated(x, kind):
    return {0: lambda: x, 1: lambda: max(x, 0.0), 2: lambda: gelu(x, True), 4: lambda: x * sigmoid(1.702 * x),
            5: lambda: silu(x)}[kind]()


def begins_of(a):
    """The group and the rows of each part, in the order of the rows."""
    order = [2, 0] if a["groupListType"] == 2 else range(GROUPS)
    begin, parts = 0, []
    for group in order:
        parts.append((group, begin, begin + COUNTS[group]))
        begin += COUNTS[group]
    return parts


def lists_reference(a):
    name = "y" if a.get("named", "y") == "y" else "out"
    if a["shape"] == "columns":
        x, weight = rows(a["x"][0]), rows(a["weight"][0])
        out = [product([row[begin:end] for row in x], weight[begin:end]) if end > begin else [[0.0] * COLUMNS] * 3
               for _, begin, end in begins_of(a)]
        return {name: [shaped([[activated(one, a["actType"]) for one in row] for part in out for row in part],
                              (GROUPS, 3, COLUMNS)).to(a["dtype"])]}
    weights = [rows(one) for one in (a["weight"] if len(a["weight"]) > 1 else a["weight"][0])]
    biases = [flat(one) for one in a["biasOptional"]] if a["biasOptional"] is not None else [[0.0] * COLUMNS] * GROUPS

    def made(x, group):
        return [[activated(one + more, a["actType"]) for one, more in zip(row, biases[group])]
                for row in product(x, weights[group])]
    if a["shape"] == "each":
        return {name: [shaped(made(rows(x), group), (x.shape[0], COLUMNS)).to(a["dtype"])
                       for group, x in enumerate(a["x"])]}
    x = rows(a["x"][0])
    parts = [made(x[begin:end], group) for group, begin, end in begins_of(a)]
    if a["splitItem"] >= 2:
        flat_rows = [row for part in parts for row in part]
        flat_rows += [[0.0] * COLUMNS] * (ROWS - len(flat_rows))
        return {name: [shaped(flat_rows, (ROWS, COLUMNS)).to(a["dtype"])]}
    return {name: [shaped(part, (len(part), COLUMNS)).to(a["dtype"]) for part in parts]}


def case_whole(dice):
    """Products of whole numbers, or of floating ones with weights of whole numbers; some of floating numbers."""
    choice = dice.randrange(3)
    if choice == 0:
        return case_lists(dice, types=3) | {"named": "out"}
    _, groups = group_list(dice, True)
    kind = dice.choice([2, 29, 3])
    low, high = {2: (-128, 128), 29: (-8, 8), 3: (-8, 8)}[kind]
    whole = torch.randint(low, high, (GROUPS, INNER, 8), dtype=torch.int8)
    weight = words(whole.flatten().tolist(), whole.shape) if kind == 3 else aclnn.Int4(whole) if kind == 29 else whole
    a = {"shape": "whole" if choice == 1 else "anti", "groupListOptional": groups, "groupListType": 0, "whole": whole,
         "weight": [weight], "splitItem": 3, "groupType": 0, "actType": 0, "dtype": torch.bfloat16}
    if choice == 1:
        scales = [packed_scale(one) for one in (torch.rand(GROUPS * 8) * 0.01).tolist()]
        packed = dice.random() < 0.5
        plain = (torch.rand(GROUPS, 8) * 0.01)
        return a | {"x": [torch.randint(-128, 128, (ROWS, INNER), dtype=torch.int8)],
                    "scaleOptional": [torch.tensor(scales).reshape(GROUPS, 8) if packed else plain],
                    "factors": [[numpy.uint32(bits & 0xFFFFE000).view(f32) for bits in scales[begin:begin + 8]]
                                for begin in range(0, len(scales), 8)] if packed else single_rows(plain),
                    "biasOptional": some(dice, [torch.randint(-500, 500, (GROUPS, 8), dtype=torch.int32)]),
                    "perTokenScaleOptional": some(dice, [torch.rand(ROWS)])}
    per = dice.choice([(), (2,)])
    return a | {"x": [draw(ROWS, INNER, dtype=torch.bfloat16)],
                "antiquantScaleOptional": [(torch.rand(GROUPS, *per, 8) * 0.1).bfloat16()],
                "antiquantOffsetOptional": some(dice, [draw(GROUPS, *per, 8, dtype=torch.bfloat16)])}


def whole_reference(a):
    if a["shape"] not in ("whole", "anti"):
        return lists_reference(a)
    x, weights, out = rows(a["x"][0]), [rows(one) for one in a["whole"]], []
    for group, begin, end in begins_of(a):
        if a["shape"] == "anti":
            scale, offset = a["antiquantScaleOptional"][0][group], a.get("antiquantOffsetOptional")
            scales, offsets = rows(scale), rows(offset[0][group]) if offset is not None else None
            size = INNER // len(scales)
            weight = [[(one + (offsets[k // size][n] if offsets else 0.0)) * scales[k // size][n]
                       for n, one in enumerate(row)] for k, row in enumerate(weights[group])]
            out += product(x[begin:end], weight)
            continue
        for at, sums in enumerate(product(x[begin:end], weights[group]), begin):
            bias = a["biasOptional"][0][group].tolist() if a["biasOptional"] is not None else [0] * 8
            row = [f32(int(one) + more) * by for one, more, by in zip(sums, bias, a["factors"][group])]
            tokens = a["perTokenScaleOptional"]
            out.append([float(one * f32(tokens[0][at].item()) if tokens is not None else one) for one in row])
    out += [[0.0] * 8] * (ROWS - len(out))
    return {"out": [shaped(out, (ROWS, 8)).to(torch.bfloat16)]}


def case_swiglu(dice):
    return {"x": torch.randint(-128, 128, (ROWS, INNER), dtype=torch.int8),
            "weight": torch.randint(-128, 128, (GROUPS, INNER, 8), dtype=torch.int8), "bias": None, "offset": None,
            "weightScale": torch.rand(GROUPS, 8) * 0.001, "xScale": torch.rand(ROWS),
            "groupList": torch.tensor(ends(COUNTS))}


def swiglu_reference(a):
    x, values, scales = rows(a["x"]), [], []
    group_of = [group for group, count in enumerate(COUNTS) for _ in range(count)]
    for at, row in enumerate(x):
        if at >= len(group_of):
            values.append([0.0] * 4)
            scales.append(0.0)
            continue
        group = group_of[at]
        sums = product([row], rows(a["weight"][group]))[0]
        wide = [one * by * a["xScale"][at].item() for one, by in zip(sums, flat(a["weightScale"][group]))]
        gate = [silu(one) * two for one, two in zip(wide[:4], wide[4:])]
        scales.append(max(abs(one) for one in gate) / 127)
        values.append([one / scales[-1] for one in gate])
    return {"output": Near(shaped(values, (ROWS, 4))), "outputScale": shaped(scales, (ROWS,), torch.float32),
            "outputOffset": None}


def lists_by_ends(dice):
    return case_lists(dice, tensor=False)


def case_grouped_finalize(dice):
    """Products of INT8 that are added to the rows of their tokens, of which the last ones get none."""
    turned, tokens, type_ = dice.random() < 0.5, 4, dice.choice([0, 1])
    weight = torch.randint(-128, 128, (GROUPS, COLUMNS, INNER) if turned else (GROUPS, INNER, COLUMNS), dtype=torch.int8)
    a = {"x": torch.randint(-128, 128, (ROWS, INNER), dtype=torch.int8), "w": weight, "scale": torch.rand(GROUPS, COLUMNS) * 0.001,
         "pertokenScale": some(dice, torch.rand(ROWS)), "groupList": torch.tensor(COUNTS if type_ else ends(COUNTS)),
         "sharedInput": some(dice, draw(2, COLUMNS, dtype=torch.bfloat16)), "logit": some(dice, torch.rand(ROWS)),
         "rowIndex": torch.tensor([dice.randrange(tokens - 1) for _ in range(ROWS)]), "groupListType": type_,
         "sharedInputWeight": 0.5, "sharedInputOffset": dice.choice([0, 2]), "dtype": 0, "tokens": tokens}
    a |= {word + "Optional": a[word] for word in ("scale", "pertokenScale", "groupList", "sharedInput", "logit", "rowIndex")}
    return a | {"x1": a["x"], "x2": a["w"], "transposeW": turned, "transposeX2": turned}


def grouped_finalize_reference(a):
    weight = a["w"].mT if a["transposeW"] else a["w"]
    out = [[0.0] * COLUMNS for _ in range(a["tokens"])]
    group_of = [group for group, count in enumerate(COUNTS) for _ in range(count)]
    for row, group in enumerate(group_of):
        for column in range(COLUMNS):
            number = sum(int(a["x"][row, at]) * int(weight[group, at, column]) for at in range(INNER))
            number *= a["scale"][group, column].item()
            for word in ("pertokenScale", "logit"):
                number *= a[word][row].item() if a[word] is not None else 1.0
            out[a["rowIndex"][row].item()][column] += number
    if a["sharedInput"] is not None:
        for row, numbers in enumerate(a["sharedInput"].double().tolist()):
            for column, number in enumerate(numbers):
                out[a["sharedInputOffset"] + row][column] += 0.5 * number
    return {word: torch.tensor(out).float() for word in ("y", "out")}


CASES = {
    "MoeGatingTopK": (case_gating, gating_reference),
    "MoeInitRoutingV2": (case_routing, routing_reference),
    "MoeInitRoutingV3": (case_routing_v3, routing_v3_reference),
    "MoeInitRoutingV2Grad": (case_routing_grad, routing_grad_reference),
    "MoeTokenPermute": (case_permute, permute_reference),
    "MoeTokenPermuteGrad": (case_permute_grad, permute_grad_reference),
    "MoeTokenUnpermute": (case_unpermute_plain, unpermute_reference),
    "MoeTokenUnpermuteGrad": (case_unpermute_grad, unpermute_grad_reference),
    "MoeFinalizeRoutingV2": (case_finalize, finalize_reference),
    "MoeFinalizeRoutingV2Grad": (case_finalize_grad, finalize_grad_reference),
    "GroupedMatmul": (lists_by_ends, lists_reference),
    "GroupedMatmulV2": (lists_by_ends, lists_reference),
    "GroupedMatmulV3": (case_lists, lists_reference),
    "GroupedMatmulV4": (case_whole, whole_reference),
    "GroupedMatmulV5": (case_whole, whole_reference),
    "GroupedMatmulWeightNz": (case_whole, whole_reference),
    "GroupedMatmulSwigluQuant": (case_swiglu, swiglu_reference),
    "GroupedMatmulSwigluQuantWeightNZ": (case_swiglu, swiglu_reference),
    "GroupedMatmulFinalizeRouting": (case_grouped_finalize, grouped_finalize_reference),
    "GroupedMatmulFinalizeRoutingV2": (case_grouped_finalize, grouped_finalize_reference),
    "GroupedMatmulFinalizeRoutingV3": (case_grouped_finalize, grouped_finalize_reference),
    "GroupedMatmulFinalizeRoutingWeightNz": (case_grouped_finalize, grouped_finalize_reference),
    "GroupedMatmulFinalizeRoutingWeightNzV2": (case_grouped_finalize, grouped_finalize_reference),
}
