# SPDX-License-Identifier: Apache-2.0
"""Rotary position embeddings: arguments and references."""

import torch

from family_norms import DTYPES, draw, some
from loops import gradient, rows, shaped

HALF, NEIGHBOURS, QUARTER, SORTED = range(4)


def rotated(x, cos, sin, mode):
    """Element by element: place i of a row is x[i] * cos[i] +- x[its partner] * sin[i]."""
    size = x.shape[-1]
    out = []
    for row, c, s in zip(rows(x), rows(cos.expand(x.shape)), rows(sin.expand(x.shape)), strict=True):
        if mode == SORTED:
            row = [row[2 * i] if i < size // 2 else row[2 * (i - size // 2) + 1] for i in range(size)]
        one = []
        for i in range(size):
            if mode == NEIGHBOURS:
                partner, sign = (i + 1, -1) if i % 2 == 0 else (i - 1, 1)
            else:
                part = size // 4 if mode == QUARTER else size // 2
                partner, sign = (i + part, -1) if i % (2 * part) < part else (i - part, 1)
            one.append(row[i] * c[i] + sign * row[partner] * s[i])
        out.append(one)
    return shaped(out, x.shape)


def factors(dice, shape, dtype):
    """The shape of cos and sin: of heads, requests or both 1."""
    sizes = [1 if dice.random() < 0.4 else size for size in shape[:-1]] + [shape[-1]]
    return draw(*sizes, dtype=dtype), draw(*sizes, dtype=dtype)


def embedding(dice):
    shape = [dice.choice([1, 2, 3]) for _ in range(dice.choice([2, 3]))] + [dice.choice([4, 8])]
    x = draw(*shape, dtype=dice.choice(DTYPES))
    cos, sin = factors(dice, shape, x.dtype)
    return {"x": x, "cos": cos, "sin": sin, "mode": dice.randrange(4)}


def embedding_reference(a):
    return {"out": rotated(a["x"], a["cos"], a["sin"], a["mode"]).to(a["x"].dtype)}


def embedding_grad(dice):
    a = embedding(dice)
    return {"dy": draw(*a["x"].shape, dtype=a["x"].dtype), "cos": a["cos"], "sin": a["sin"],
            "xOptional": some(dice, a["x"], 0.7), "mode": a["mode"]}


def embedding_grad_reference(a):
    x = a["xOptional"]
    given = [x if x is not None else torch.zeros_like(a["dy"]), a["cos"], a["sin"]]

    def function(x, cos, sin):
        return rotated(x, cos, sin, a["mode"])
    found = [gradient(function, given, place, a["dy"]).to(a["dy"].dtype) for place in range(3 if x is not None else 1)]
    return dict(zip(("dxOut", "dcosOut", "dsinOut"), found + [None, None]))


def both(dice):
    layout = dice.randint(1, 4)
    heads, keys, tokens, requests, size = 4, 2, 3, 2, 8

    def laid(heads, requests=requests):
        return {1: (requests, tokens, heads, size), 2: (tokens, requests, heads, size),
                3: (requests, heads, tokens, size), 4: (tokens, heads, size)}[layout]
    dtype = dice.choice(DTYPES)
    few = dice.choice([1, requests])
    return {"queryRef": draw(*laid(heads), dtype=dtype), "keyRef": draw(*laid(keys), dtype=dtype),
            "cos": draw(*laid(1, few), dtype=dtype), "sin": draw(*laid(1, few), dtype=dtype), "layout": layout,
            "rotaryMode": dice.choice(["half", "interleave", "quarter"])}


def both_v1(dice):
    a = both(dice)
    del a["rotaryMode"]
    return a


def both_reference(a):
    mode = ["half", "interleave", "quarter"].index(a.get("rotaryMode", "half"))
    return {word: rotated(a[word], a["cos"], a["sin"], mode).to(a[word].dtype) for word in ("queryRef", "keyRef")}


def interleave(dice):
    x = draw(2, 4, 3, 8, dtype=dice.choice(DTYPES))
    shape = (2, 1, dice.choice([1, 3]), 8)
    return {"x": x, "cos": draw(*shape, dtype=x.dtype), "sin": draw(*shape, dtype=x.dtype)}


def interleave_reference(a):
    return {"out": rotated(a["x"], a["cos"], a["sin"], SORTED).to(a["x"].dtype)}


def cached(dice):
    size, rotary, tokens = 8, dice.choice([4, 8]), 5
    dtype = dice.choice(DTYPES)
    sections = dice.choice([None, [rotary // 2 - 2, 1, 1]])
    shape = (tokens,) if sections is None else (3, tokens)
    return {"positions": torch.randint(0, 10, shape), "queryIn": draw(tokens, 4 * size, dtype=dtype),
            "keyIn": draw(tokens, 2 * size, dtype=dtype), "cosSinCache": draw(10, rotary, dtype=dtype),
            "mropeSection": sections, "headSize": size, "isNeoxStyle": dice.random() < 0.5}


def cached_reference(a):
    table, positions = rows(a["cosSinCache"]), a["positions"].tolist()
    half, sections, size = len(table[0]) // 2, a["mropeSection"], a["headSize"]

    def angle(token, column):
        if sections is None:
            return table[positions[token]]
        axis = 0 if column < sections[0] else 1 if column < sections[0] + sections[1] else 2
        return table[positions[axis][token]]
    results = {}
    for word, given in (("queryOut", a["queryIn"]), ("keyOut", a["keyIn"])):
        out = []
        for token, row in enumerate(rows(given)):
            row = list(row)
            for begin in range(0, len(row), size):
                for column in range(half):
                    c, s = angle(token, column)[column], angle(token, column)[half + column]
                    one, two = (column, column + half) if a["isNeoxStyle"] else (2 * column, 2 * column + 1)
                    x, y = row[begin + one], row[begin + two]
                    row[begin + one], row[begin + two] = x * c - y * s, y * c + x * s
            out.append(row)
        results[word] = shaped(out, given.shape).to(given.dtype)
    return results


CASES = {
    "RotaryPositionEmbedding": (embedding, embedding_reference),
    "RotaryPositionEmbeddingGrad": (embedding_grad, embedding_grad_reference),
    "ApplyRotaryPosEmb": (both_v1, both_reference),
    "ApplyRotaryPosEmbV2": (both, both_reference),
    "InterleaveRope": (interleave, interleave_reference),
    "RopeWithSinCosCache": (cached, cached_reference),
}
