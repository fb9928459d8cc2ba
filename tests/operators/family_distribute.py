# SPDX-License-Identifier: Apache-2.0
"""Tokens to experts and back, of one rank: arguments and references."""

import math

import torch

from family_norms import draw, some
from family_quant import dynamic_row, single_rows
from loops import saturated

COLUMNS = 8


def active_of(a):
    """Whether each token's expert takes part, [tokens][k]."""
    tokens, k = a["expertIds"].shape
    mask = a.get("xActiveMaskOptional")
    if mask is None:
        return [[True] * k for _ in range(tokens)]
    return [[bool(mask[token] if mask.dim() == 1 else mask[token, place]) for place in range(k)] for token in range(tokens)]


def pairs_of(a):
    """The (token, place among its experts) of rows, and how many rows each expert has."""
    tokens, k = a["expertIds"].shape
    active, pairs, counts = active_of(a), [], []
    for expert in range(a["moeExpertNum"]):
        own = [(token, place) for token in range(tokens) for place in range(k)
               if active[token][place] and a["expertIds"][token, place].item() == expert]
        pairs += own
        counts.append(len(own))
    return pairs, counts


def ends_of(counts):
    return [sum(counts[:place + 1]) for place in range(len(counts))]


def draws(dice):
    tokens, k, experts = dice.choice([1, 3, 5]), dice.choice([1, 2, 3]), dice.choice([3, 6])
    ids = torch.stack([torch.randperm(experts)[:k] for _ in range(tokens)]).int()
    mask = dice.choice([None, torch.arange(tokens) < tokens - 1, torch.rand(tokens, k) > 0.4])
    return {"expertIds": ids, "xActiveMask": mask, "xActiveMaskOptional": mask, "moeExpertNum": experts,
            "groupEp": "group", "epWorldSize": 1, "tpWorldSize": dice.choice([0, 1]),
            "sharedExpertNum": dice.choice([0, 1]), "globalBs": dice.choice([0, 0, tokens, tokens + 2])}


def put(a, word, value):
    a[word] = a[word + "Optional"] = value


def case_dispatch(dice):
    a = draws(dice)
    tokens, k = a["expertIds"].shape
    a["x"] = draw(tokens, COLUMNS, dtype=dice.choice([torch.float16, torch.bfloat16]))
    a["quantMode"] = dice.choice([0, 2])
    put(a, "scales", some(dice, torch.rand(a["moeExpertNum"], COLUMNS)) if a["quantMode"] else None)
    put(a, "expertScales", some(dice, torch.rand(tokens, k)))
    a["expertTokenNumsType"] = dice.choice([0, 1])
    return a


def dispatch_reference(a):
    pairs, counts = pairs_of(a)
    tokens, k = a["expertIds"].shape
    rows = max(a["globalBs"], tokens) * k
    x = a["x"]
    made = torch.zeros(rows, COLUMNS, dtype=torch.int8 if a["quantMode"] else x.dtype)
    scales, weights = torch.zeros(rows), torch.zeros(rows)
    for row, (token, place) in enumerate(pairs):
        if a["quantMode"]:
            numbers = single_rows(x[token:token + 1])[0]
            if a["scales"] is not None:
                factors = single_rows(a["scales"])[a["expertIds"][token, place].item()]
                numbers = [one * by for one, by in zip(numbers, factors)]
            whole, scale = dynamic_row(numbers, 127)
            made[row] = torch.tensor([saturated(one) for one in whole], dtype=torch.int8)
            scales[row] = float(scale)
        else:
            made[row] = x[token]
        if a["expertScales"] is not None:
            weights[row] = a["expertScales"][token, place]
    within, triples = torch.full((tokens, k), -1, dtype=torch.int32), torch.zeros(rows * 128, dtype=torch.int32)
    seen = {}
    for row, (token, place) in enumerate(pairs):
        expert = a["expertIds"][token, place].item()
        within[token, place] = seen.get(expert, 0)
        seen[expert] = seen.get(expert, 0) + 1
        triples[3 * row:3 * row + 3] = torch.tensor([0, token, place])
    numbers = ends_of(counts) if a["expertTokenNumsType"] == 0 else counts
    results = {"expandX": made, "dynamicScales": scales if a["quantMode"] else None, "expandIdx": within.flatten(),
               "assistInfoForCombine": triples, "expertTokenNums": torch.tensor(numbers),
               "epRecvCounts": torch.tensor(ends_of(counts), dtype=torch.int32),
               "tpRecvCounts": torch.tensor([len(pairs)], dtype=torch.int32) if a["tpWorldSize"] else None,
               "expandScales": weights if a["expertScales"] is not None else None}
    return results | {word + "Out": value for word, value in results.items()}


def case_combine(dice):
    a = draws(dice)
    tokens, k = a["expertIds"].shape
    pairs, counts = pairs_of(a)
    rows = max(a["globalBs"], tokens) * k
    a["expandX"] = draw(rows, COLUMNS, dtype=dice.choice([torch.float16, torch.bfloat16]))
    within, triples = torch.full((tokens, k), -1, dtype=torch.int32), torch.zeros(rows * 128, dtype=torch.int32)
    for row, (token, place) in enumerate(pairs):
        expert = a["expertIds"][token, place].item()
        within[token, place] = row - sum(counts[:expert])
        triples[3 * row:3 * row + 3] = torch.tensor([0, token, place])
    put(a, "sharedExpertX", some(dice, draw(tokens, COLUMNS, dtype=a["expandX"].dtype)))
    return a | {"expandIdx": within.flatten(), "assistInfoForCombine": triples, "expertScales": torch.rand(tokens, k),
                "epSendCounts": torch.tensor(ends_of(counts), dtype=torch.int32)}


def sums_of(a):
    """The weighted sums of tokens, as lists."""
    pairs, _ = pairs_of(a)
    made, sums = a["expandX"].double().tolist(), [[0.0] * COLUMNS for _ in range(a["expertIds"].shape[0])]
    for row, (token, place) in enumerate(pairs):
        weight = a["expertScales"][token, place].item()
        sums[token] = [one + weight * more for one, more in zip(sums[token], made[row])]
    if a["sharedExpertX"] is not None:
        sums = [[one + more for one, more in zip(row, other)] for row, other in zip(sums, a["sharedExpertX"].double().tolist())]
    return sums


def combine_reference(a):
    out = torch.tensor(sums_of(a)).to(a["expandX"].dtype)
    return {"x": out, "xOut": out}


def case_first_combine(dice):
    return case_combine(dice) | {"sharedExpertX": None, "sharedExpertXOptional": None}


def case_normed(dice):
    a = case_combine(dice)
    return a | {"residualX": draw(a["expertIds"].shape[0], 1, COLUMNS, dtype=a["expandX"].dtype),
                "gamma": draw(COLUMNS, dtype=a["expandX"].dtype), "normEps": 1e-5}


def normed_reference(a):
    dtype, out, roots, sums = a["expandX"].dtype, [], [], []
    for row, other in zip(sums_of(a), a["residualX"][:, 0].double().tolist()):
        row = torch.tensor(row).to(dtype).double().tolist()
        row = [one + more for one, more in zip(row, other)]
        row = torch.tensor(row).to(dtype).double().tolist()
        root = 1 / math.sqrt(sum(one * one for one in row) / COLUMNS + a["normEps"])
        sums.append(row)
        roots.append(root)
        out.append([one * root * by for one, by in zip(row, a["gamma"].double().tolist())])
    shape = a["residualX"].shape
    return {"yOut": torch.tensor(out).reshape(shape).to(dtype), "xOut": torch.tensor(sums).reshape(shape).to(dtype),
            "rstdOut": torch.tensor(roots).float().reshape(shape[0], 1, 1)}


def case_barrier(dice):
    return {"xRef": draw(3), "group": "group", "worldSize": 1}


def barrier_reference(a):
    return {"xRef": a["xRef"]}


CASES = {"MoeDistributeDispatch": (case_dispatch, dispatch_reference),
         "MoeDistributeDispatchV2": (case_dispatch, dispatch_reference),
         "MoeDistributeDispatchV3": (case_dispatch, dispatch_reference),
         "MoeDistributeCombine": (case_first_combine, combine_reference),
         "MoeDistributeCombineV2": (case_combine, combine_reference),
         "MoeDistributeCombineV3": (case_combine, combine_reference),
         "MoeDistributeCombineAddRmsNorm": (case_normed, normed_reference),
         "MoeDistributeCombineAddRmsNormV2": (case_normed, normed_reference),
         "DistributeBarrier": (case_barrier, barrier_reference),
         "DistributeBarrierV2": (case_barrier, barrier_reference)}
