# SPDX-License-Identifier: Apache-2.0
"""Plain loops in numpy for the operators of LLM engines, without any operation of torch."""

import numpy as np


def rms_norm(x, gamma, epsilon):
    """Returns y and rstd, by rows of gamma's shape."""
    x, gamma = np.asarray(x, np.float64), np.asarray(gamma, np.float64)
    rows = x.reshape(-1, gamma.size)
    y, rstd = np.empty_like(rows), np.empty(len(rows))
    for number, row in enumerate(rows):
        rstd[number] = 1 / np.sqrt(sum(value * value for value in row) / gamma.size + epsilon)
        y[number] = row * rstd[number] * gamma.reshape(-1)
    return y.reshape(x.shape), rstd.reshape(x.shape[:x.ndim - gamma.ndim] + (1,) * gamma.ndim)


def rotary(x, r1, r2, mode):
    x = np.asarray(x, np.float64)
    turned, half = np.empty_like(x), x.shape[-1] // 2
    for place in range(half):
        first, second = (place, place + half) if mode == "half" else (2 * place, 2 * place + 1)
        turned[..., first] = -x[..., second]
        turned[..., second] = x[..., first]
    return x * np.asarray(r1, np.float64) + turned * np.asarray(r2, np.float64)


def swiglu(x, dim):
    x = np.moveaxis(np.asarray(x, np.float64), dim, 0)
    half = len(x) // 2
    return np.moveaxis(np.stack([a / (1 + np.exp(-a)) * b for a, b in zip(x[:half], x[half:])]), 0, dim)


def geglu(x, dim, gelu, left=False):
    """gelu: of one number."""
    first, second = np.split(np.asarray(x, np.float64), 2, dim)
    plain, gate = (second, first) if left else (first, second)
    activated = np.vectorize(gelu)(gate)
    return plain * activated, activated


def attend(query, key, value, scale, hidden):
    """One request: query [Sq, N, D], key [Sk, Nk, D], hidden(head, row, column). Returns the attention
    [Sq, N, Dv] and the log of the sum of exponentials [Sq, N]; 0 and -inf where all is hidden."""
    query, key, value = (np.asarray(tensor, np.float64) for tensor in (query, key, value))
    group = query.shape[1] // key.shape[1]
    out, lse = np.zeros((*query.shape[:2], value.shape[2])), np.full(query.shape[:2], -np.inf)
    for row in range(query.shape[0]):
        for head in range(query.shape[1]):
            seen = [column for column in range(len(key)) if not hidden(head, row, column)]
            if not seen:
                continue
            powers = [np.exp(scale * query[row, head] @ key[column, head // group]) for column in seen]
            for power, column in zip(powers, seen):
                out[row, head] += power / sum(powers) * value[column, head // group]
            lse[row, head] = np.log(sum(powers))
    return out, lse


def in_layout(requests, layout):
    """Puts [S, N, D] of each request into the layout; all have one length except in TND."""
    if layout == "TND":
        return np.concatenate(requests)
    whole = np.stack(requests)  # [B, S, N, D]
    return {"BSND": whole, "BNSD": whole.transpose(0, 2, 1, 3), "BSH": whole.reshape(*whole.shape[:2], -1),
            "SBH": whole.transpose(1, 0, 2, 3).reshape(whole.shape[1], len(whole), -1),
            "NBSD": whole.transpose(2, 0, 1, 3)}[layout]


def blocks_of(requests, size, table, count):
    """A paged cache [count, size, N, D] in which the rows of the table have the requests."""
    cache = np.full((count, size, *requests[0].shape[1:]), np.nan)
    for request, row in zip(requests, table):
        for place, token in enumerate(request):
            cache[row[place // size], place % size] = token
    return cache
