# SPDX-License-Identifier: Apache-2.0
"""softmax(scale * q kT, without hidden positions) v and its gradient, computed in float32.

Queries are [B, N, Sq, D], keys and values [B, Nk, Sk, D]. N is a multiple of Nk: a head of keys serves
N / Nk heads of queries. A query that sees no key has the result 0.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

torch: Any = importlib.import_module("torch")

_NOTHING = float("-inf")


@dataclass
class Weights:
    """The parameters of the scores."""
    scale: float
    hidden: Any = None  # positions, or None
    bias: Any = None
    bias_scaled: bool = True  # scale * (q kT + bias), not scale * q kT + bias


def _grouped(tensor: Any, heads: int) -> Any:
    """[B, N, S, D] -> [B, heads, N / heads * S, D] in float32"""
    batch, _, tokens, size = tensor.shape
    rows = tensor.shape[1] // heads * tokens
    return tensor.float().reshape(batch, heads, rows, size)


def _scores(query: Any, key: Any, weights: Weights) -> Any:
    """Returns [B, N, Sq, Sk]."""
    batch, heads, queries, _ = query.shape
    product = torch.matmul(_grouped(query, key.shape[1]), key.float().transpose(-1, -2))
    product = product.reshape(batch, heads, queries, key.shape[2])
    if weights.bias is not None and weights.bias_scaled:
        product = product + weights.bias.float()
    product = product * weights.scale
    if weights.bias is not None and not weights.bias_scaled:
        product = product + weights.bias.float()
    return product if weights.hidden is None else product.masked_fill(weights.hidden, _NOTHING)


def _powers(scores: Any, maximum: Any) -> Any:
    return torch.exp(scores - maximum.masked_fill(maximum == _NOTHING, 0))


def forward(query: Any, key: Any, value: Any, weights: Weights) -> tuple[Any, Any, Any]:
    """Returns the attention in the dtype of query, and the maximum of the scores and the sum of the
    powers, both [B, N, Sq, 1] in float32."""
    batch, heads, queries, _ = query.shape
    if not key.shape[2]:
        zeros = torch.zeros((batch, heads, queries, 1), dtype=torch.float32, device=query.device)
        return (query.new_zeros((batch, heads, queries, value.shape[3])), zeros + _NOTHING, zeros)
    scores = _scores(query, key, weights)
    maximum = scores.amax(-1, keepdim=True)
    powers = _powers(scores, maximum)
    total = powers.sum(-1, keepdim=True)
    out = torch.matmul(_grouped(powers, key.shape[1]), value.float())
    out = out.reshape(batch, heads, queries, value.shape[3]) / total.clamp(min=1)
    return out.to(query.dtype), maximum, total


def backward(query: Any, key: Any, value: Any, weights: Weights, gradient: Any, out: Any,
             maximum: Any, total: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the gradients of query, key, value and the scores' bias [B, N, Sq, Sk], in float32.

    With P = softmax: dV = PT dO, dS = P * (dO VT - sum(dO * O)), dQ = scale dS K, dK = scale dST Q.
    """
    heads = key.shape[1]
    probabilities = _powers(_scores(query, key, weights), maximum) / total.masked_fill(total == 0, 1)
    wide = gradient.float()
    if weights.hidden is not None:  # rows past a length have gradients of any value
        seen = (~weights.hidden).any(-1, keepdim=True)
        wide = torch.where(seen, wide, 0)
    into_value = torch.matmul(_grouped(probabilities, heads).transpose(-1, -2), _grouped(wide, heads))
    change = torch.matmul(_grouped(wide, heads), value.float().transpose(-1, -2))
    delta = (wide * out.float()).sum(-1, keepdim=True)
    scores = probabilities * (change.reshape(probabilities.shape) - delta)
    grouped = _grouped(scores, heads)
    into_query = torch.matmul(grouped, key.float()).reshape(query.shape) * weights.scale
    into_key = torch.matmul(grouped.transpose(-1, -2), _grouped(query, heads)) * weights.scale
    return into_query, into_key, into_value, scores * (weights.scale if weights.bias_scaled else 1)
