# SPDX-License-Identifier: Apache-2.0
"""Attention over the tokens that an indexer has chosen, in a paged latent cache."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .cache import check_places, used_columns
from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_NAME = "npu_sparse_flash_attention"
_QUANTIZED = "npu_kv_quant_sparse_flash_attention"
_UNLIMITED = (1 << 63) - 1
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


def _with_ropes(query: Any, key: Any, query_rope: Any, key_rope: Any) -> tuple[Any, tuple[Any, ...]]:
    """Returns query with the part that is rotated behind it, and the rows of the key's caches."""
    rows = key.flatten(0, 2)
    check((query_rope is None) == (key_rope is None), _NAME, "key_rope", key_rope, "both ropes, or none")
    if query_rope is None:
        return query, (rows,)
    check_floating(_NAME, query_rope=query_rope, key_rope=key_rope)
    check_shape(_NAME, "query_rope", query_rope, [*query.shape[:2], query_rope.shape[-1]])
    check_shape(_NAME, "key_rope", key_rope, [*key.shape[:3], query_rope.shape[-1]])
    return torch.cat((query, query_rope), -1), (rows, key_rope.flatten(0, 2))


def _places(name: str, sparse_indices: Any, ends: Any, lengths: Any, block_table: Any, size: int, blocks: int,
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
    check_places(name, "sparse_indices (columns of block_table)", column, columns)
    block = block_table.flatten().index_select(0, (request.unsqueeze(1) * columns + column).flatten()).long()
    block = torch.where(seen, block.view(chosen.shape), 0)
    check_places(name, "block_table", block, blocks)
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
    refuse(_NAME, **{name: band for name, band in bands.items() if band != _UNLIMITED})
    _check(query, key, value, sparse_indices, {
        "layout_query": (layout_query, ("TND",)), "layout_kv": (layout_kv, ("PA_BSND",)),
        "sparse_block_size": (sparse_block_size, (1,)), "sparse_mode": (sparse_mode, (_ALL, _CAUSAL)),
        "attention_mode": (attention_mode, (0, 2))})
    whole, keys = _with_ropes(query, key, query_rope, key_rope)
    # A latent cache is key and value in one, so its rows are gathered once.
    shared = value.shape == key.shape and value.data_ptr() == key.data_ptr() and value.stride() == key.stride()
    values = key.shape[3] if shared else value.flatten(0, 2)
    return _over_chosen(_NAME, whole, key, keys, values, sparse_indices, scale_value,
                        (block_table, actual_seq_lengths_query, actual_seq_lengths_kv), sparse_mode == _CAUSAL,
                        return_softmax_lse)


def _over_chosen(name: str, query: Any, cache: Any, keys: tuple[Any, ...], values: Any, sparse_indices: Any, scale: float,
                 tables: tuple[Any, Any, Any], causal: bool, statistics: bool,
                 decode: Callable[[Any], Any] | None = None) -> tuple[Any, Any, Any]:
    """Returns attention over the rows of keys that sparse_indices choose in the blocks of the cache."""
    block_table, query_ends, key_lengths = tables
    for which, given in (("block_table", block_table), ("actual_seq_lengths_query", query_ends),
                         ("actual_seq_lengths_kv", key_lengths)):
        check(given is not None, name, which, given, "a tensor, as layout_kv is 'PA_BSND'")
    requests = query_ends.numel()
    check(requests > 0 and block_table.dim() == 2 and block_table.shape[0] >= requests, name, "block_table",
          block_table, f"[at least {requests} requests, blocks of a request]")
    check_shape(name, "actual_seq_lengths_kv", key_lengths, [requests])
    places, seen = _places(name, sparse_indices, query_ends.long(), key_lengths.long(), block_table, cache.shape[1],
                           cache.shape[0], causal)
    columns = used_columns(seen)  # short contexts have fewer tokens than may be chosen
    places, seen = places[:, :columns], seen[:, :columns]
    step = max(_GATHERED // max(places.shape[1] * query.shape[2], 1), 1)
    parts = [_attend(query[at:at + step], keys, values, places[at:at + step], seen[at:at + step], scale, decode)
             for at in range(0, query.shape[0], step)]
    out, largest, total = (torch.cat(part) for part in zip(*parts))
    none = total.new_empty((0,))
    shown = (largest.unsqueeze(0), total.unsqueeze(0)) if statistics else (none, none.clone())
    return out.to(query.dtype), *shown


def _attend(query: Any, keys: tuple[Any, ...], values: Any, places: Any, seen: Any, scale: float,
            decode: Callable[[Any], Any] | None) -> tuple[Any, Any, Any]:
    """Returns attention in float32, the largest scores, and the sums of exponentials. values is a number where
    they are that many first elements of the keys. decode makes numbers of gathered rows."""
    rows = places.flatten()
    # A cache has most of the device's memory, so only what is gathered is put together.
    found = torch.cat([part.index_select(0, rows) for part in keys], 1)
    found = (found.float() if decode is None else decode(found)).unflatten(0, places.shape)
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


def _decoder(latent: int, rope: int, tile: int, dtype: Any) -> Callable[[Any], Any]:
    """Returns what makes float32 rows [latent + rope] of bytes: int8, then the rotated part in the type of the
    query, then a float32 factor for each tile of the first."""
    def decode(rows: Any) -> Any:
        end = latent + rope * dtype.itemsize
        rotated = rows[:, latent:end].contiguous().view(dtype).float()
        factors = rows[:, end:].contiguous().view(torch.float32).repeat_interleave(tile, 1)
        return torch.cat((rows[:, :latent].float() * factors, rotated), 1)

    return decode


@define("_C_ascend::npu_kv_quant_sparse_flash_attention")
def quantized_attention(query: Any, key: Any, value: Any, sparse_indices: Any, scale_value: float, *,
                        key_quant_mode: int = 1, value_quant_mode: int = 1, key_dequant_scale: Any = None,
                        value_dequant_scale: Any = None, block_table: Any = None,
                        actual_seq_lengths_query: Any = None, actual_seq_lengths_kv: Any = None,
                        sparse_block_size: int = 1, layout_query: str = "BSND", layout_kv: str = "BSND",
                        sparse_mode: int = _CAUSAL, attention_mode: int = 2, quant_scale_repo_mode: int = 1,
                        tile_size: int = 128, rope_head_dim: int = 64, return_softmax_lse: bool = False,
                        **bands: Any) -> tuple[Any, Any, Any]:
    """npu_sparse_flash_attention over a cache of bytes, whose rows _decoder describes. The first part of a key
    is its value, too, so value is not read."""
    name = _QUANTIZED
    refuse(name, key_dequant_scale=key_dequant_scale, value_dequant_scale=value_dequant_scale,
           **{band: given for band, given in bands.items() if given != _UNLIMITED})
    for which, given, known in (("layout_query", layout_query, ("TND",)), ("layout_kv", layout_kv, ("PA_BSND",)),
                                ("sparse_block_size", sparse_block_size, (1,)), ("key_quant_mode", key_quant_mode, (2,)),
                                ("value_quant_mode", value_quant_mode, (2,)), ("attention_mode", attention_mode, (2,)),
                                ("quant_scale_repo_mode", quant_scale_repo_mode, (1,)),
                                ("sparse_mode", sparse_mode, (_ALL, _CAUSAL))):
        check(given in known, name, which, given, " or ".join(map(repr, known)))
    check_floating(name, query=query)
    check(query.dim() == 3 and 0 < rope_head_dim < query.shape[2], name, "query", query,
          f"[tokens, heads, more than rope_head_dim = {rope_head_dim}]")
    latent = query.shape[2] - rope_head_dim
    check(tile_size > 0 and latent % tile_size == 0, name, "tile_size", tile_size, f"a divisor of {latent}")
    size = latent + rope_head_dim * query.dtype.itemsize + 4 * (latent // tile_size)
    check(key.dtype == torch.int8 and key.dim() == 4 and list(key.shape[2:]) == [1, size], name, "key", key,
          f"int8 of shape [blocks, tokens of a block, 1, {size}]")
    check(sparse_indices.dim() == 3 and sparse_indices.shape[:2] == (query.shape[0], 1), name, "sparse_indices",
          sparse_indices, f"[{query.shape[0]}, 1, chosen tokens]")
    return _over_chosen(name, query, key, (key.flatten(0, 2),), latent, sparse_indices, scale_value,
                        (block_table, actual_seq_lengths_query, actual_seq_lengths_kv), sparse_mode == _CAUSAL,
                        return_softmax_lse, _decoder(latent, rope_head_dim, tile_size, query.dtype))
