# SPDX-License-Identifier: Apache-2.0
"""Attention of training: arguments and references. Gradients are finite differences."""

import math

import torch

from family_norms import draw, some
from loops import gradient

HEADS, SIZE, REQUESTS = 2, 4, 2
UNLIMITED = 2147483647
TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
QUERY_ENDS, KEY_ENDS = [2, 2, 5], [3, 4, 6]  # of TND


def laid(tensor, layout):
    """[B, N, S, D] in a layout."""
    tokens = tensor.transpose(1, 2)
    return {"BNSD": tensor, "BSND": tokens, "BSH": tokens.flatten(2), "SBH": tokens.flatten(2).transpose(0, 1)}[
        layout].contiguous()


def plain(tensor, layout, heads):
    """A layout as [B, N, S, D]."""
    if layout == "SBH":
        tensor = tensor.transpose(0, 1)
    if layout in ("BSH", "SBH"):
        tensor = tensor.unflatten(2, (heads, -1))
    return tensor if layout == "BNSD" else tensor.transpose(1, 2)


def is_hidden(a, request, head, query, key, queries, keys):
    mask, mode = a["attenMaskOptional"], a["sparseMode"]
    if mask is None:
        return False
    if mode >= 2:
        shift = 0 if mode == 2 else keys - queries
        before, after = (a["preTokens"], a["nextTokens"]) if mode == 4 else (UNLIMITED, 0)
        return not -before <= key - query - shift <= after
    there = mask[min(request, mask.shape[0] - 1), min(head, mask.shape[1] - 1), query, key].item() if mask.dim() == 4 else \
        mask[query, key].item()
    return bool(there) or mode == 0 and not -a["preTokens"] <= key - query <= a["nextTokens"]


def kept_factor(a, request, head, query, key, queries, keys):
    if a.get("dropMaskOptional") is None:
        return 1.0
    place = ((request * HEADS + head) * queries + query) * keys + key
    return (a["dropMaskOptional"][place // 8].item() >> place % 8 & 1) / a["keepProb"]


def attend(a, q, k, v, pse, request):
    """A request [N, S, D] of lists. Returns the result, and maximum and sum of each row."""
    out, most_of, total_of = [], [], []
    for head, queries in enumerate(q):
        keys, values = k[head * len(k) // HEADS], v[head * len(k) // HEADS]
        for place, row in enumerate(queries):
            scores = []
            for key, other in enumerate(keys):
                score = sum(one * two for one, two in zip(row, other))
                more = pse[head if len(pse) > 1 else 0][place if len(pse[0]) > 1 else 0][key] if pse else 0.0
                score = (score + more) * a["scaleValue"] if a.get("pseType", 1) == 1 else score * a["scaleValue"] + more
                hides = is_hidden(a, request, head, place, key, len(queries), len(keys))
                scores.append(-math.inf if hides else score)
            most = max(scores, default=-math.inf)
            powers = [math.exp(score - most) if score > -math.inf else 0.0 for score in scores]
            total = sum(powers)
            weights = [power / total * kept_factor(a, request, head, place, key, len(queries), len(keys)) if total else 0.0
                       for key, power in enumerate(powers)]
            out.append([sum(weight * value[d] for weight, value in zip(weights, values)) for d in range(len(v[0][0]))]
                       if values else [0.0] * SIZE)
            most_of.append(most)
            total_of.append(total)
    shape = (HEADS, len(q[0]), -1)
    return [torch.tensor(one, dtype=torch.float64).reshape(shape) for one in (out, most_of, total_of)]


def whole(a, query, key, value, pse=None):
    """The result, maximum and sum in the layout of the call."""
    layout, results = a["inputLayout"], []
    if layout == "TND":
        begins = [(0, 0), *zip(QUERY_ENDS, KEY_ENDS)]
        for request, (queries, keys) in enumerate(zip(QUERY_ENDS, KEY_ENDS)):
            begin, key_begin = begins[request]
            q, k, v = query[begin:queries], key[key_begin:keys], value[key_begin:keys]
            if queries > begin:
                results.append(attend(a, *(one.transpose(0, 1).tolist() for one in (q, k, v)), None, request))
        return [torch.cat([result[part].transpose(0, 1) for result in results]) for part in range(3)]
    heads = a["keyHeads"]
    q, k, v = plain(query, layout, HEADS), plain(key, layout, heads), plain(value, layout, heads)
    for request in range(REQUESTS):
        shift = pse[min(request, pse.shape[0] - 1)].tolist() if pse is not None else None
        results.append(attend(a, *(one[request].tolist() for one in (q, k, v)), shift, request))
    out, most, total = (torch.stack([result[part] for result in results]) for part in range(3))
    return [laid(out, layout), most, total]


def masked(dice, queries, keys, a):
    mode = dice.choice([None, 0, 1, 2, 3, 4])
    if mode is None:
        return a | {"attenMaskOptional": None, "sparseMode": dice.choice([0, 3])}
    if mode >= 2:
        return a | {"attenMaskOptional": TRIANGLE, "sparseMode": mode, "preTokens": 1, "nextTokens": 1}
    shape = dice.choice([(queries, keys), (REQUESTS, 1, queries, keys), (1, HEADS, queries, keys)]) \
        if a["inputLayout"] != "TND" else (queries, keys)
    mask = torch.rand(shape) > 0.7
    return a | {"attenMaskOptional": mask.to(dice.choice([torch.bool, torch.uint8])), "sparseMode": mode,
                "preTokens": dice.choice([UNLIMITED, 1]), "nextTokens": dice.choice([UNLIMITED, 1])}


def common(dice, layout):
    return {"scaleValue": 0.5, "keepProb": 1.0, "preTokens": UNLIMITED, "nextTokens": UNLIMITED, "headNum": HEADS,
            "inputLayout": layout, "innerPrecise": 0, "keyHeads": dice.choice([1, HEADS]), "paddingMaskOptional": None,
            "dropMaskOptional": None, "realShiftOptional": None}


def case(dice, dtypes=(torch.float32, torch.float16, torch.bfloat16), queries=3, keys=4):
    layout, dtype = dice.choice(["BSH", "SBH", "BSND", "BNSD"]), dice.choice(dtypes)
    a = masked(dice, queries, keys, common(dice, layout))
    if dice.random() < 0.3:
        bits = REQUESTS * HEADS * queries * keys
        a |= {"dropMaskOptional": torch.randint(0, 256, (-(-bits // 8),), dtype=torch.uint8), "keepProb": 0.5}
    pse = some(dice, draw(dice.choice([1, REQUESTS]), dice.choice([1, HEADS]), dice.choice([1, queries]), keys, dtype=dtype))
    return a | {"query": laid(draw(REQUESTS, HEADS, queries, SIZE, dtype=dtype), layout), "realShiftOptional": pse,
                "key": laid(draw(REQUESTS, a["keyHeads"], keys, SIZE, dtype=dtype), layout),
                "value": laid(draw(REQUESTS, a["keyHeads"], keys, SIZE, dtype=dtype), layout)}


def case_v2(dice):
    return case(dice) | {"pseType": dice.randrange(2)}


def case_varlen(dice, dtypes=(torch.float32, torch.float16, torch.bfloat16)):
    dtype = dice.choice(dtypes)
    a = masked(dice, 3, 3, common(dice, "TND"))
    return a | {"query": draw(QUERY_ENDS[-1], HEADS, SIZE, dtype=dtype), "actualSeqQLenOptional": QUERY_ENDS,
                "key": draw(KEY_ENDS[-1], a["keyHeads"], SIZE, dtype=dtype), "actualSeqKvLenOptional": KEY_ENDS,
                "value": draw(KEY_ENDS[-1], a["keyHeads"], SIZE, dtype=dtype), "pseType": 1, "softmaxOutLayout": "TND"}


def case_rope(dice):
    a = case_varlen(dice)
    if dice.random() < 0.6:
        a |= {"queryRope": draw(*a["query"].shape[:2], 2, dtype=a["query"].dtype),
              "keyRope": draw(*a["key"].shape[:2], 2, dtype=a["query"].dtype)}
    return a


def joined(a, query, key):
    if a.get("queryRope") is None:
        return query, key
    return (torch.cat([query, a["queryRope"].to(query.dtype)], -1),
            torch.cat([key, a.get("keyRope", a.get("keyInRope")).to(key.dtype)], -1))


def reference(a):
    query, key = joined(a, a["query"].double(), a["key"].double())
    pse = a["realShiftOptional"]
    out, most, total = whole(a, query, key, a["value"].double(), pse.double() if pse is not None else None)
    return {"attentionOutOut": out.to(a["query"].dtype), "softmaxMaxOut": most.float().repeat_interleave(8, -1),
            "softmaxSumOut": total.float().repeat_interleave(8, -1), "softmaxOutOut": None}


def backward(maker):
    """The arguments of the gradient, with or without what the forward pass has given."""
    def made(dice):
        a = maker(dice)
        forward = reference(a)
        gives = dice.random() < 0.5
        a |= {"dy": draw(*forward["attentionOutOut"].shape, dtype=a["query"].dtype), "keyIn": a["key"],
              "pseShiftOptional": a["realShiftOptional"], "softmaxInLayout": "TND",
              "softmaxMaxOptional": forward["softmaxMaxOut"] if gives else None,
              "softmaxSumOptional": forward["softmaxSumOut"] if gives else None,
              "attentionInOptional": forward["attentionOutOut"] if gives else None}
        if a.get("keyRope") is not None:
            a["keyInRope"] = a["keyRope"]
        return a
    return made


def backward_reference(a):
    given = [a["query"], a["key"], a["value"], a["realShiftOptional"], a.get("queryRope"), a.get("keyRope")]

    def function(query, key, value, pse, query_rope, key_rope):
        with_rope = a | {"queryRope": query_rope, "keyRope": key_rope}
        return whole(a, *joined(with_rope, query, key), value, pse)[0]
    names = ("dqOut", "dkOut", "dvOut", "dpseOut", "dqRopeOut", "dkRopeOut")
    return {name: gradient(function, given, place, a["dy"], 1e-5).to(given[place].dtype) if given[place] is not None else None
            for place, name in enumerate(names)}


def small(dice):
    return case(dice, queries=2, keys=3)


def small_v2(dice):
    return case(dice, queries=2, keys=3) | {"pseType": dice.randrange(2)}


CASES = {
    "FlashAttentionScore": (case, reference),
    "FlashAttentionScoreV2": (case_v2, reference),
    "FlashAttentionVarLenScore": (case_varlen, reference),
    "FlashAttentionVarLenScoreV2": (case_varlen, reference),
    "FlashAttentionVarLenScoreV3": (case_rope, reference),
    "FlashAttentionVarLenScoreV4": (case_varlen, reference),
    "FlashAttentionScoreGrad": (backward(small), backward_reference),
    "FlashAttentionScoreGradV2": (backward(small_v2), backward_reference),
    "FlashAttentionUnpaddingScoreGrad": (backward(case_varlen), backward_reference),
    "FlashAttentionUnpaddingScoreGradV2": (backward(case_varlen), backward_reference),
    "FlashAttentionUnpaddingScoreGradV3": (backward(case_rope), backward_reference),
    "FlashAttentionUnpaddingScoreGradV4": (backward(case_varlen), backward_reference),
}
