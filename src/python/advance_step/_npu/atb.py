# SPDX-License-Identifier: Apache-2.0
"""torch.ops.atb, torch_npu's operators of ATB: rotary embedding, paged cache, attention."""

from __future__ import annotations

import importlib
from typing import Any

from . import attention
from .cache import check_places, write_rows
from .checks import check, check_floating, check_shape, check_written
from .table import define

torch: Any = importlib.import_module("torch")


def _turn(part: Any, cos: Any, sin: Any, neox: bool) -> Any:
    """Rotates pairs of elements: halves of a row, or neighbours."""
    if neox:
        first, second = part.chunk(2, -1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)
    first, second = part[..., ::2], part[..., 1::2]
    return torch.stack((first * cos - second * sin, second * cos + first * sin), -1).flatten(-2)


@define("atb::_npu_rotary_embedding")
def rotary_embedding(positions: Any, query: Any, key: Any, head_size: int, cos_sin_cache: Any,
                     is_neox_style: bool) -> None:
    """Rotates the heads of query and key in place. A row of the cache is cosines, then sines, and is as
    long as the part of a head that is rotated."""
    name = "_npu_rotary_embedding"
    check_floating(name, query=query, key=key, cos_sin_cache=cos_sin_cache)
    turned = cos_sin_cache.shape[-1]
    check(cos_sin_cache.dim() == 2 and turned % 2 == 0 and 0 < turned <= head_size, name, "cos_sin_cache",
          cos_sin_cache, f"[positions, an even number of elements up to head_size = {head_size}]")
    places = positions.flatten()
    heads = {}
    for which, tensor in (("query", query), ("key", key)):
        check(tensor.numel() % (head_size * max(places.numel(), 1)) == 0 and tensor.is_contiguous(), name,
              which, tensor, f"contiguous heads of {head_size} for {places.numel()} positions")
        heads[which] = tensor.view(places.numel(), -1, head_size)
    check_written(name, {"query": query, "key": key}, {})
    check_places(name, "positions", places, cos_sin_cache.shape[0])
    cos, sin = cos_sin_cache.index_select(0, places).float().unsqueeze(1).chunk(2, -1)
    for tensor in heads.values():
        part = tensor[..., :turned]
        part.copy_(_turn(part.float(), cos, sin, is_neox_style).to(tensor.dtype))


@define("atb::_npu_reshape_and_cache")
def reshape_and_cache(key: Any, value: Any, key_cache: Any, value_cache: Any, slot_indices: Any) -> None:
    """Writes row i of key and value to slot slot_indices[i] of the caches [blocks, tokens, heads, D]. A
    slot below 0 is none."""
    name = "_npu_reshape_and_cache"
    pairs = (("key", key, key_cache), ("value", value, value_cache))
    for which, rows, cache in pairs:
        check(cache.dim() == 4 and cache.is_contiguous(), name, f"{which}_cache", cache,
              "contiguous, [blocks, tokens of a block, heads, D]")
        check_shape(name, which, rows, [slot_indices.numel(), *cache.shape[2:]])
    check(key_cache.shape[:2] == value_cache.shape[:2], name, "value_cache", value_cache, "the blocks of key_cache")
    check_written(name, {"key_cache": key_cache, "value_cache": value_cache}, {"key": key, "value": value})
    slots = slot_indices.flatten().long()
    check_places(name, "slot_indices", slots, key_cache.shape[0] * key_cache.shape[1], none=True)
    for _, rows, cache in pairs:
        write_rows(cache.view(-1, *cache.shape[2:]), rows, slots)


@define("atb::_npu_reshape_and_cache_siso")
def reshape_and_cache_siso(key: Any, key_cache: Any, slot_indices: Any) -> None:
    name = "_npu_reshape_and_cache_siso"
    check(key_cache.dim() == 4 and key_cache.is_contiguous(), name, "key_cache", key_cache,
          "contiguous, [blocks, tokens of a block, heads, D]")
    check_shape(name, "key", key, [slot_indices.numel(), *key_cache.shape[2:]])
    check_written(name, {"key_cache": key_cache}, {"key": key})
    slots = slot_indices.flatten().long()
    check_places(name, "slot_indices", slots, key_cache.shape[0] * key_cache.shape[1], none=True)
    write_rows(key_cache.view(-1, *key_cache.shape[2:]), key, slots)


def _loaded(key_cache: Any, value_cache: Any, block_table: Any, context_lens: Any, seq_starts: Any, cumsum: bool,
            rows: int) -> tuple[Any, Any]:
    """Returns the tokens of all requests one after another in `rows` rows, of which those behind the last
    token are 0. No shape depends on a length."""
    name = "npu_paged_cache_load"
    check(block_table.dim() == 2, name, "block_table", block_table, "[requests, blocks of a request]")
    requests = block_table.shape[0]
    for which, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        check(cache.dim() == 4, name, which, cache, "[blocks, tokens of a block, heads, D]")
    check(key_cache.shape[:2] == value_cache.shape[:2], name, "value_cache", value_cache, "the blocks of key_cache")
    check_shape(name, "context_lens", context_lens, [requests + 1 if cumsum else requests])
    starts = torch.zeros_like(block_table[:, 0]) if seq_starts is None else seq_starts
    check_shape(name, "seq_starts", starts, [requests])
    ends = context_lens[1:].long() if cumsum else context_lens.long().cumsum(0)
    begins = context_lens[:-1].long() if cumsum else ends - context_lens.long()
    row = torch.arange(rows, device=key_cache.device)
    request = torch.searchsorted(ends, row, right=True)
    there = request < requests
    request = request.clamp(max=requests - 1)
    token = torch.where(there, row - begins.index_select(0, request) + starts.long().index_select(0, request), 0)
    blocks, size = key_cache.shape[:2]
    column = torch.div(token, size, rounding_mode="floor")
    check_places(name, "context_lens (columns of block_table)", column, block_table.shape[1])
    block = block_table.flatten().index_select(0, request * block_table.shape[1] + column).long()
    place = torch.where(there, block * size + token % size, 0)
    check_places(name, "block_table", place, blocks * size)
    found = (cache.flatten(0, 1).index_select(0, place) for cache in (key_cache, value_cache))
    keys, values = (tokens.masked_fill(~there[:, None, None], 0) for tokens in found)
    return keys, values


@define("atb::npu_paged_cache_load.out")
def paged_cache_load_out(key_cache: Any, value_cache: Any, block_table: Any, context_lens: Any, *,
                         seq_starts: Any = None, cumsum: bool = False, key: Any, value: Any) -> tuple[Any, Any]:
    """Writes the tokens of each request, from seq_starts[r] on and context_lens[r] of them, to key and value
    one after another. With cumsum context_lens is cumulative and begins with 0."""
    name = "npu_paged_cache_load"
    for which, rows, cache in (("key", key, key_cache), ("value", value, value_cache)):
        check(cache.dim() == 4 and rows.numel() == key.shape[0] * cache.shape[2] * cache.shape[3] and
              rows.shape[0] == key.shape[0] and rows.dtype == cache.dtype, name, which, rows,
              f"{cache.dtype}, [{key.shape[0]}, heads, D]")
    check_written(name, {"key": key, "value": value}, {"key_cache": key_cache, "value_cache": value_cache})
    keys, values = _loaded(key_cache, value_cache, block_table, context_lens, seq_starts, cumsum, key.shape[0])
    key.copy_(keys.view(key.shape))
    value.copy_(values.view(value.shape))
    return key, value


def _tokens(cache: Any, block_table: Any) -> Any:
    """Returns the tokens of all blocks of the table as [requests, heads, tokens, D]."""
    columns = block_table.shape[1]
    found = cache.index_select(0, block_table.flatten())
    return found.unflatten(0, (-1, columns)).flatten(1, 2).transpose(1, 2)


@define("atb::_npu_paged_attention")
def paged_attention(query: Any, key_cache: Any, value_cache: Any, num_kv_heads: int, num_heads: int,
                    scale_value: float, block_table: Any, context_lens: Any, out: Any, *,
                    workspace: Any = None) -> None:
    """Writes the attention of one query for each request over its context, whose length is in
    context_lens. All blocks of the table are looked at, so that a graph can be replayed with others."""
    name = "_npu_paged_attention"
    check_floating(name, query=query, key_cache=key_cache, value_cache=value_cache)
    check(num_kv_heads > 0 and num_heads % num_kv_heads == 0, name, "num_kv_heads", num_kv_heads,
          f"a divisor of num_heads = {num_heads}")
    check(block_table.dim() == 2, name, "block_table", block_table, "[requests, blocks of a request]")
    requests = block_table.shape[0]
    check_shape(name, "context_lens", context_lens, [requests])
    for which, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        check(cache.dim() == 4 and cache.shape[2] == num_kv_heads, name, which, cache,
              f"[blocks, tokens of a block, {num_kv_heads}, D]")
    check(query.dim() == 3 and query.shape[0] >= requests and query.shape[1] == num_heads, name, "query",
          query, f"[at least {requests} requests, {num_heads}, D]")
    check(key_cache.shape[:2] == value_cache.shape[:2], name, "value_cache", value_cache, "the blocks of key_cache")
    check(out.numel() >= query[:requests].numel() // query.shape[2] * value_cache.shape[3] and out.is_contiguous(),
          name, "out", out, "contiguous, with an element for each of query")
    blocks, size = key_cache.shape[:2]
    lengths = context_lens.to(query.device).long()
    first = torch.arange(block_table.shape[1], device=query.device) * size  # token of each column
    used = torch.where(first < lengths.unsqueeze(1), block_table, 0).long()
    check_places(name, "block_table", used, blocks)
    check_places(name, "context_lens", lengths, block_table.shape[1] * size + 1)
    keys, values = (_tokens(cache, used) for cache in (key_cache, value_cache))
    row = torch.arange(keys.shape[2], device=query.device)
    hidden = (row >= lengths.unsqueeze(1))[:, None, None, :]
    found, _, _ = attention.forward(query[:requests].unsqueeze(2), keys, values,
                                    attention.Weights(scale_value, hidden))
    out.view(-1)[:found.numel()].copy_(found.flatten())


@define("atb::_npu_paged_attention_get_workspace")
def paged_attention_workspace(query: Any, *_: Any, **__: Any) -> Any:
    """Returns the workspace of a kernel of the device, which is empty here."""
    return torch.empty((0,), dtype=torch.uint8, device=query.device)


@define("atb::_npu_matmul_add_fp32")
def matmul_add(x: Any, weight: Any, C: Any) -> None:
    """C += the transposed x times weight, in float32"""
    name = "_npu_matmul_add_fp32"
    check_floating(name, x=x, weight=weight)
    check(x.dim() == 2 and weight.dim() == 2 and x.shape[0] == weight.shape[0], name, "weight", weight,
          f"{x.shape[0]} rows, as x has")
    check(str(C.dtype) == "torch.float32", name, "C", C, "float32")
    check_shape(name, "C", C, [x.shape[1], weight.shape[1]])
    C.add_(x.float().t() @ weight.float())
