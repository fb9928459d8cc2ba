# SPDX-License-Identifier: Apache-2.0
"""Attention over the tokens that an indexer has chosen, in a paged latent cache."""

from __future__ import annotations

import importlib
from typing import Any

from .cache import check_places, used_columns
from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_NAME = "npu_sparse_flash_attention"
_GATHERED = 1 << 24  # elements of keys that are gathered at a time
_ALL, _CAUSAL = 0, 3  # modes


def _check(query: Any, key: Any, value: Any, sparse_indices: Any,
           modes: dict[str, tuple[Any, tuple[Any, ...]]]) -> None:
    for name, (given, known) in modes.items():
        check(given in known, _NAME, name, given, " or ".join(map(repr, known)))
    check_floating(_NAME, query=query, key=key, value=value)
    check(query.dim() == 3, _NAME, "query", query, "[tokens, heads, D]")
    for name, cache in (("key", key), ("value", value)):
        check(cache.dim() == 4 and cache.shape[2] == 1, _NAME, name, cache, "[blocks, tokens of a block, 1, D]")
    check(value.shape[:2] == key.shape[:2], _NAME, "value", value, "the blocks of key")
    check(key.shape[3] == query.shape[2], _NAME, "key", key, f"a last dimension of {query.shape[2]}, as query has")
    check(sparse_indices.dim() == 3 and sparse_indices.shape[:2] == (query.shape[0], 1), _NAME, "sparse_indices",
          sparse_indices, f"[{query.shape[0]}, 1, chosen tokens]")


def _with_ropes(query: Any, key: Any, query_rope: Any, key_rope: Any) -> tuple[Any, Any]:
    """Returns query and the rows of the key's cache, with the parts that are rotated behind them."""
    rows = key.flatten(0, 2)
    check((query_rope is None) == (key_rope is None), _NAME, "key_rope", key_rope, "both ropes, or none")
    if query_rope is None:
        return query, rows
    check_floating(_NAME, query_rope=query_rope, key_rope=key_rope)
    check_shape(_NAME, "query_rope", query_rope, [*query.shape[:2], query_rope.shape[-1]])
    check_shape(_NAME, "key_rope", key_rope, [*key.shape[:3], query_rope.shape[-1]])
    return torch.cat((query, query_rope), -1), torch.cat((rows, key_rope.flatten(0, 2)), -1)


def _places(sparse_indices: Any, ends: Any, lengths: Any, block_table: Any, size: int, blocks: int,
            causal: bool) -> tuple[Any, Any]:
    """Returns the row in the caches of each chosen token, and whether it is seen: it is none below 0, and not
    from behind the context, or with `causal` behind the query."""
    tokens = sparse_indices.shape[0]
    token = torch.arange(tokens, device=sparse_indices.device)
    request = torch.searchsorted(ends, token, right=True).clamp(max=ends.shape[0] - 1)
    last = lengths.index_select(0, request)
    if causal:
        last = last - (ends.index_select(0, request) - 1 - token)
    chosen = sparse_indices.flatten(1).long()
    seen = (chosen >= 0) & (chosen < last.unsqueeze(1)) & (token < ends[-1]).unsqueeze(1)
    chosen = torch.where(seen, chosen, 0)
    column = torch.div(chosen, size, rounding_mode="floor")
    columns = block_table.shape[1]
    check_places(_NAME, "sparse_indices (columns of block_table)", column, columns)
    block = block_table.flatten().index_select(0, (request.unsqueeze(1) * columns + column).flatten()).long()
    block = torch.where(seen, block.view(chosen.shape), 0)
    check_places(_NAME, "block_table", block, blocks)
    return block * size + chosen % size, seen


@define("_C_ascend::npu_sparse_flash_attention")
def sparse_flash_attention(query: Any, key: Any, value: Any, sparse_indices: Any, scale_value: float, *,
                           block_table: Any = None, actual_seq_lengths_query: Any = None,
                           actual_seq_lengths_kv: Any = None, query_rope: Any = None, key_rope: Any = None,
                           sparse_block_size: int = 1, layout_query: str = "BSND", layout_kv: str = "BSND",
                           sparse_mode: int = _CAUSAL, attention_mode: int = 2,
                           return_softmax_lse: bool = False, **bands: Any) -> tuple[Any, Any, Any]:
    """Returns the attention of each query over its chosen tokens, and with return_softmax_lse the largest
    score and the sum of exponentials as [1, tokens, heads]. actual_seq_lengths_query is cumulative. No shape
    depends on a length, so that a graph can be replayed with others."""
    refuse(_NAME, **{name: band for name, band in bands.items() if band != (1 << 63) - 1})
    _check(query, key, value, sparse_indices, {
        "layout_query": (layout_query, ("TND",)), "layout_kv": (layout_kv, ("PA_BSND",)),
        "sparse_block_size": (sparse_block_size, (1,)), "sparse_mode": (sparse_mode, (_ALL, _CAUSAL)),
        "attention_mode": (attention_mode, (0, 2))})
    for name, given in (("block_table", block_table), ("actual_seq_lengths_query", actual_seq_lengths_query),
                        ("actual_seq_lengths_kv", actual_seq_lengths_kv)):
        check(given is not None, _NAME, name, given, "a tensor, as layout_kv is 'PA_BSND'")
    requests = actual_seq_lengths_query.numel()
    check(requests > 0 and block_table.dim() == 2 and block_table.shape[0] >= requests, _NAME, "block_table",
          block_table, f"[at least {requests} requests, blocks of a request]")
    check_shape(_NAME, "actual_seq_lengths_kv", actual_seq_lengths_kv, [requests])
    whole, keys = _with_ropes(query, key, query_rope, key_rope)
    ends, lengths = actual_seq_lengths_query.long(), actual_seq_lengths_kv.long()
    places, seen = _places(sparse_indices, ends, lengths, block_table, key.shape[1], key.shape[0],
                           sparse_mode == _CAUSAL)
    columns = used_columns(seen)  # short contexts have fewer tokens than may be chosen
    places, seen = places[:, :columns], seen[:, :columns]
    step = max(_GATHERED // max(places.shape[1] * keys.shape[1], 1), 1)
    # A latent cache is key and value in one, so its rows are gathered once.
    shared = value.shape == key.shape and value.data_ptr() == key.data_ptr() and value.stride() == key.stride()
    values = key.shape[3] if shared else value.flatten(0, 2)
    parts = [_attend(whole[at:at + step], keys, values, places[at:at + step], seen[at:at + step], scale_value)
             for at in range(0, whole.shape[0], step)]
    out, largest, total = (torch.cat(part) for part in zip(*parts))
    none = total.new_empty((0,))
    statistics = (largest.unsqueeze(0), total.unsqueeze(0)) if return_softmax_lse else (none, none.clone())
    return out.to(query.dtype), *statistics


def _attend(query: Any, keys: Any, values: Any, places: Any, seen: Any, scale: float) -> tuple[Any, Any, Any]:
    """Returns attention in float32, the largest scores, and the sums of exponentials. values is a number where
    they are that many first elements of the keys."""
    rows = places.flatten()
    found = keys.index_select(0, rows).float().unflatten(0, places.shape)
    scores = (query.float() @ found.transpose(1, 2)) * scale
    scores = scores.masked_fill(~seen.unsqueeze(1), float("-inf"))
    largest = scores.amax(-1)
    powers = torch.exp(scores - largest.masked_fill(largest.isinf(), 0).unsqueeze(-1))
    total = powers.sum(-1)
    if isinstance(values, int):
        weighted = powers @ found[..., :values]
    else:
        weighted = powers @ values.index_select(0, rows).float().unflatten(0, places.shape)
    return weighted / total.masked_fill(total == 0, 1).unsqueeze(-1), largest, total
