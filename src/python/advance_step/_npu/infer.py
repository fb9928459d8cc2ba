# SPDX-License-Identifier: Apache-2.0
"""npu_fused_infer_attention_score in its versions and forms: attention of inference."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import attention, layouts, masks, paged
from .checks import check, check_device, check_floating, check_written, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_LAYOUTS = {name: tuple(name.split("_")) if "_" in name else (name, name) for name in (
    "BSH", "BSND", "BNSD", "TND", "NTD", "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND_NTD",
    "NTD_TND")}


@dataclass
class Call:
    """A call, with the names that its operator has for some arguments."""
    name: str
    heads: int
    kv_heads: int
    scale: float
    layout: str
    query_lengths: Sequence[int] | None
    key_lengths: Sequence[int] | None
    sparse: masks.Sparse
    block_table: Any = None
    block_size: int = 0
    query_rope: Any = None  # the rest of each head of query, and of key
    key_rope: Any = None
    heads_name: str = "num_heads"
    query_lengths_name: str = "actual_seq_lengths"
    key_lengths_name: str = "actual_seq_lengths_kv"


def _lengths(call: Call, name: str, given: Sequence[int] | None, batch: int, most: int) -> list[int]:
    """Returns the length of each request: the given ones, one for all, or the whole size."""
    if given is None:
        return [most] * batch
    lengths = list(given) * batch if len(given) == 1 else list(given)[:batch]
    check(len(lengths) == batch and all(0 <= length <= most for length in lengths), call.name, name,
          list(given), f"one length, or one for each of the {batch} requests, from 0 to {most}")
    return lengths


def _paged_lengths(call: Call, batch: int) -> list[int]:
    table, name = call.block_table, call.name
    check(str(table.dtype) in ("torch.int32", "torch.int64") and table.dim() == 2
          and table.shape[0] == batch, name, "block_table", table,
          f"[{batch}, blocks of a request] of int32")
    check(call.block_size > 0, name, "block_size", call.block_size,
          "the tokens of a block, as there is a block_table")
    check(call.key_lengths is not None, name, call.key_lengths_name, None,
          "the lengths of the requests, as there is a block_table")
    return _lengths(call, call.key_lengths_name, call.key_lengths, batch,
                    table.shape[1] * call.block_size)


def _blocks(call: Call, name: str, cache: Any, heads: int, layout: str) -> Any:
    """Returns the cache as [blocks, block_size, heads, D]."""
    size, shape = call.block_size, list(cache.shape)
    if len(shape) == 3 and shape[1] == size and shape[2] % heads == 0:
        return cache.unflatten(2, (heads, shape[2] // heads))
    if len(shape) == 4:
        by_head = shape[1:3] == [heads, size]
        by_token = shape[1:3] == [size, heads]
        if by_token and not (by_head and layout in ("BNSD", "TND", "NTD")):
            return cache
        if by_head:
            return cache.transpose(1, 2)
    if len(shape) == 5 and shape[1] == heads and shape[3] == size:
        return cache.permute(0, 3, 1, 2, 4).flatten(3)
    if len(shape) >= 3 and size not in shape[1:4]:
        name, cache = "block_size", size
    check(False, call.name, name, cache,
          f"that of a cache: [blocks, block_size, {heads} * D] or [blocks, {heads}, block_size, D]; "
          f"it is {shape}")


def _keys_and_values(call: Call, key: Any, value: Any, layout: str, heads: int,
                     batch: int) -> tuple[Any, Any, list[int]]:
    """Returns keys and values as [B, N, S, D], the keys with their rope part, and the lengths."""
    name = call.name
    given = {"key": key, "value": value}
    if call.key_rope is not None:
        given["key_rope"] = call.key_rope
    if call.block_table is not None:
        lengths = _paged_lengths(call, batch)
        caches = [_blocks(call, n, tensor, heads, layout) for n, tensor in given.items()]
        for n, cache in zip(given, caches):
            check(cache.shape[:3] == caches[0].shape[:3], name, n, given[n], "the blocks of key")
        tokens = list(paged.gather_blocks(caches[0], caches[1], call.block_table, lengths))
        if len(caches) > 2:
            tokens.append(paged.gather_blocks(caches[2], caches[2][..., :0], call.block_table, lengths)[0])
        made = [part.transpose(1, 2) for part in tokens]
    else:
        lengths = []
        if layout in layouts.VARLEN:
            layouts.check_ends(name, call.key_lengths_name, call.key_lengths,
                               key.shape[layout.index("T")])
            lengths = layouts.lengths_of(call.key_lengths or ())
            check(len(lengths) == batch, name, call.key_lengths_name, call.key_lengths,
                  f"one end for each of the {batch} requests")
        made = [layouts.to_bnsd(name, n, tensor, layout, heads, "num_key_value_heads", lengths)
                for n, tensor in given.items()]
        if layout not in layouts.VARLEN:
            lengths = _lengths(call, call.key_lengths_name, call.key_lengths, batch, made[0].shape[2])
    if len(made) > 2:
        check(made[2].shape[:3] == made[0].shape[:3], name, "key_rope", call.key_rope,
              "the tokens and heads of key")
        made[0] = torch.cat((made[0], made[2]), -1)
    return made[0], made[1], lengths


def _check_ropes(call: Call, query: Any) -> None:
    check((call.query_rope is None) == (call.key_rope is None), call.name, "key_rope", call.key_rope,
          "one if there is a query_rope, and none otherwise")
    for name, rope in (("query_rope", call.query_rope), ("key_rope", call.key_rope)):
        if rope is not None:
            check(rope.dtype == query.dtype, call.name, name, rope, f"the dtype of query, {query.dtype}")


def attend(call: Call, query: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Returns the attention and the log of the sum of exponentials."""
    name = call.name
    check(call.layout in _LAYOUTS, name, "input_layout", call.layout, "one of " + ", ".join(_LAYOUTS))
    layout, out_layout = _LAYOUTS[call.layout]
    check_floating(name, query=query, key=key, value=value)
    for other_name, other in (("key", key), ("value", value)):
        check(other.dtype == query.dtype, name, other_name, other, f"the dtype of query, {query.dtype}")
    _check_ropes(call, query)
    check(call.heads > 0, name, call.heads_name, call.heads, "at least 1")
    kv_heads = call.kv_heads or call.heads
    check(kv_heads > 0 and call.heads % kv_heads == 0, name, "num_key_value_heads", call.kv_heads,
          f"0 or a divisor of {call.heads}")
    varlen = layout in layouts.VARLEN
    layouts.check_ranks(name, layout, query=query)
    if call.block_table is None:
        layouts.check_ranks(name, layout, key=key, value=value)
    total_tokens = query.shape[layout.index("T")] if varlen else 0
    query_lengths: list[int] = []
    if varlen:
        layouts.check_ends(name, call.query_lengths_name, call.query_lengths, total_tokens)
        query_lengths = layouts.lengths_of(call.query_lengths or ())
    q = layouts.to_bnsd(name, "query", query, layout, call.heads, call.heads_name, query_lengths)
    batch, _, queries, size = q.shape
    one_query = not varlen and queries == 1
    if not varlen:
        given = None if one_query else call.query_lengths
        query_lengths = _lengths(call, call.query_lengths_name, given, batch, queries)

    k, v, key_lengths = _keys_and_values(call, key, value, layout, kv_heads, batch)
    if call.query_rope is not None:
        q = torch.cat((q, layouts.to_bnsd(name, "query_rope", call.query_rope, layout, call.heads,
                                          call.heads_name, query_lengths)), -1)
        size = q.shape[3]
    check(k.shape[0] == batch and k.shape[3] == size, name, "key", key,
          f"{batch} requests and heads of {size}, as query has")
    check(v.shape[:3] == k.shape[:3], name, "value", value, "the tokens and heads of key")

    sizes = (batch, call.heads, queries, k.shape[2])
    hidden = masks.hidden(call.sparse, sizes, query_lengths, key_lengths, query.device, one_query)
    out, maximum, total = attention.forward(q, k, v, attention.Weights(call.scale, hidden))
    lse = maximum + torch.log(total)
    if varlen:
        lse = layouts.from_bnsd(lse, "TND", query_lengths, total_tokens)
    return layouts.from_bnsd(out, out_layout, query_lengths, total_tokens), lse


def _finish(call: Call, query: Any, key: Any, value: Any, with_lse: bool) -> tuple[Any, Any]:
    out, lse = attend(call, query, key, value)
    return out, lse if with_lse else lse.new_empty((0,))


@define("npu_fused_infer_attention_score")
def infer(query: Any, key: Any, value: Any, *, atten_mask: Any = None, actual_seq_lengths: Any = None,
          actual_seq_lengths_kv: Any = None, block_table: Any = None, num_heads: int = 1,
          scale: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647,
          input_layout: str = "BSH", num_key_value_heads: int = 0, sparse_mode: int = 0,
          inner_precise: int = 0, block_size: int = 0, softmax_lse_flag: bool = False,
          query_rope: Any = None, key_rope: Any = None, **others: Any) -> tuple[Any, Any]:
    name = "npu_fused_infer_attention_score"
    refuse(name, **others)
    sparse = masks.Sparse(name, atten_mask, sparse_mode, pre_tokens, next_tokens)
    call = Call(name, num_heads, num_key_value_heads, scale, input_layout, actual_seq_lengths,
                actual_seq_lengths_kv, sparse, block_table, block_size, query_rope, key_rope)
    return _finish(call, query, key, value, softmax_lse_flag)


@define("npu_fused_infer_attention_score_v2")
def infer_v2(query: Any, key: Any, value: Any, *, atten_mask: Any = None, actual_seq_qlen: Any = None,
             actual_seq_kvlen: Any = None, block_table: Any = None, num_query_heads: int = 1,
             num_key_value_heads: int = 0, softmax_scale: float = 1.0, pre_tokens: int = 2147483647,
             next_tokens: int = 2147483647, input_layout: str = "BSH", sparse_mode: int = 0,
             block_size: int = 0, inner_precise: int = 0, return_softmax_lse: bool = False,
             query_rope: Any = None, key_rope: Any = None, **others: Any) -> tuple[Any, Any]:
    name = "npu_fused_infer_attention_score_v2"
    refuse(name, **others)
    sparse = masks.Sparse(name, atten_mask, sparse_mode, pre_tokens, next_tokens)
    call = Call(name, num_query_heads, num_key_value_heads, softmax_scale, input_layout,
                actual_seq_qlen, actual_seq_kvlen, sparse, block_table, block_size, query_rope, key_rope,
                "num_query_heads", "actual_seq_qlen", "actual_seq_kvlen")
    return _finish(call, query, key, value, return_softmax_lse)


def _store(name: str, results: Sequence[Any], out: Sequence[Any]) -> tuple[Any, ...]:
    check(len(out) == len(results), name, "out", list(out), f"{len(results)} tensors")
    places = {f"out[{at}]": (place, result)
              for at, (place, result) in enumerate(zip(out, results)) if result.numel()}
    for shown, (place, result) in places.items():
        check(place.shape == result.shape and place.dtype == result.dtype, name, shown, place,
              f"{result.dtype} of shape {list(result.shape)}")
        check_device(name, result.device, **{shown: place})
    check_written(name, {shown: place for shown, (place, _) in places.items()}, {})
    for place, result in places.values():
        place.copy_(result)
    return tuple(out)


@define("npu_fused_infer_attention_score.out")
def infer_out(query: Any, key: Any, value: Any, *, workspace: Any = None, out: Sequence[Any],
              **options: Any) -> tuple[Any, ...]:
    return _store("npu_fused_infer_attention_score", infer(query, key, value, **options), out)


@define("npu_fused_infer_attention_score_v2.out")
def infer_v2_out(query: Any, key: Any, value: Any, *, workspace: Any = None, out: Sequence[Any],
                 **options: Any) -> tuple[Any, ...]:
    return _store("npu_fused_infer_attention_score_v2", infer_v2(query, key, value, **options), out)


@define("_npu_fused_infer_attention_score_get_max_workspace",
        "_npu_fused_infer_attention_score_v2_get_max_workspace",
        "_npu_fusion_attention_v3_get_max_workspace", "_npu_fusion_attention_grad_v3_get_max_workspace")
def workspace_of(query: Any, *_: Any, **__: Any) -> Any:
    """Returns the workspace of a kernel of the device, which is empty here."""
    return torch.empty((0,), dtype=torch.uint8, device=query.device)
