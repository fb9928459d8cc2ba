# SPDX-License-Identifier: Apache-2.0
"""What a token is drawn from, and rows of caches: arguments and references."""

import math

import torch

from family_experts import softmax
from family_norms import DTYPES, draw, some
from loops import rows, shaped


def filtered(row, k, p):
    """A row's logits; those that are left out are -inf."""
    if k is not None and 0 < k < len(row):
        least = sorted(row, reverse=True)[k - 1]
        row = [one if one >= least else -math.inf for one in row]
    if p is not None:
        order = sorted(range(len(row)), key=lambda place: row[place])
        weights, total, kept = softmax(row), 0.0, list(row)
        for place in order[:-1]:
            total += weights[place]
            if total <= 1 - p:
                kept[place] = -math.inf
        row = kept
    return row


def case_filter(dice):
    dtype = dice.choice(DTYPES)
    return {"logits": draw(4, 10, dtype=dtype) * 3, "p": some(dice, torch.rand(4).to(dtype)),
            "k": some(dice, torch.randint(0, 12, (4,), dtype=torch.int32))}


def filter_reference(a):
    out = [filtered(row, a["k"][at].item() if a["k"] is not None else None,
                    a["p"][at].item() if a["p"] is not None else None) for at, row in enumerate(rows(a["logits"]))]
    return {"out": shaped(out, (4, 10)).to(a["logits"].dtype)}


def case_sample(dice):
    dtype = dice.choice([torch.float16, torch.bfloat16])
    return {"logits": draw(4, 10, dtype=dtype) * 3, "topK": torch.randint(1, 12, (4,), dtype=torch.int32),
            "topP": torch.rand(4).to(dtype), "q": some(dice, torch.rand(4, 10) + 0.1), "eps": 1e-8,
            "isNeedLogits": dice.random() < 0.5, "topKGuess": 32}


def sample_reference(a):
    logits, chosen = [], []
    for at, row in enumerate(rows(a["logits"])):
        row = filtered(row, a["topK"][at].item(), a["topP"][at].item())
        merit = softmax(row)
        if a["q"] is not None:
            merit = [one / (by + a["eps"]) for one, by in zip(merit, a["q"][at].tolist())]
        chosen.append(merit.index(max(merit)))
        logits.append(row)
    return {"logitsSelectIdx": torch.tensor(chosen),
            "logitsTopKPSelect": shaped(logits, (4, 10), torch.float32) if a["isNeedLogits"] else None}


def case_update(dice):
    depth = dice.choice([1, 2])
    count = dice.choice([1, 4])
    places = torch.randperm(4 * 5)[:count] if depth == 2 else torch.randperm(4)[:count]
    indices = torch.stack([places // 5, places % 5], -1) if depth == 2 else places.unsqueeze(-1)
    dtype = dice.choice([*DTYPES, torch.int8, torch.int64])
    numbers = (lambda *shape: torch.randint(-9, 9, shape).to(dtype))
    return {"varRef": numbers(4, 5, 3), "indices": indices.to(dice.choice([torch.int32, torch.int64])),
            "updates": numbers(count, *(4, 5, 3)[depth:])}


def update_reference(a):
    var = a["varRef"].clone()
    for place, row in zip(a["indices"].tolist(), a["updates"]):
        var[tuple(place)] = row
    return {"varRef": var}


def case_scatter(dice):
    axis = dice.choice([1, 2, -2])
    updates = [3, 4, 6, 5]
    updates[axis] = 2
    pairs = dice.random() < 0.5
    most = (3, 4, 6, 5)[axis] - 2
    places = torch.randint(0, most + 1, (3,))
    requests = torch.randperm(3)
    return {"data": draw(3, 4, 6, 5), "indices": torch.stack([requests, places], 1) if pairs else places,
            "updates": draw(*updates), "axis": axis}


def scatter_reference(a):
    data = a["data"].clone()
    for row, place in enumerate(a["indices"].tolist()):
        request, begin = place if isinstance(place, list) else (row, place)
        for step in range(2):
            data[request].select(a["axis"] - 1 if a["axis"] > 0 else a["axis"], begin + step).copy_(
                a["updates"][row].select(a["axis"] - 1 if a["axis"] > 0 else a["axis"], step))
    return {"data": data}


def case_gather(dice):
    negative = dice.random() < 0.5
    indices = torch.stack([torch.randint(-4 if negative else 0, 4, (2, 3)), torch.randint(0, 5, (2, 3))], -1)
    return {"self": draw(4, 5, 3), "indices": indices[..., :dice.choice([1, 2])].contiguous(),
            "negativeIndexSupport": negative}


def gather_reference(a):
    depth = a["indices"].shape[-1]
    flat = [a["self"][tuple(place)] for place in a["indices"].reshape(-1, depth).tolist()]
    return {"out": torch.stack(flat).reshape(2, 3, *a["self"].shape[depth:])}


CASES = {
    "ApplyTopKTopP": (case_filter, filter_reference),
    "TopKTopPSample": (case_sample, sample_reference),
    "ScatterNdUpdate": (case_update, update_reference),
    "InplaceScatterUpdate": (case_scatter, scatter_reference),
    "GatherNd": (case_gather, gather_reference),
}
