# SPDX-License-Identifier: Apache-2.0
"""npu_scatter_pa_kv_cache, which writes rows of keys and values into a paged KV cache."""

from __future__ import annotations

from typing import Any

from . import paged
from .checks import check, check_device, check_written, refuse
from .table import define

NAME = "npu_scatter_pa_kv_cache"


def _rows_and_cache(rows: Any, cache: Any, mode: str, name: str) -> tuple[Any, Any]:
    """Returns the rows, and the cache as [blocks, block_size, ...] with the shape of a row at its end.

    "Norm" caches are [blocks, block_size, heads, dim]. "PA_NZ" ones are
    [blocks, heads * dim / last, block_size, last]. A "PA_NZ" cache may also have the shape of
    "Norm", because format_cast keeps shapes; it is then used as one of "Norm".
    """
    heads, dim = rows.shape[1:]
    sizes = list(cache.shape)
    if len(sizes) == 4 and sizes[2:] == [heads, dim]:
        return rows, cache
    check(mode == "PA_NZ" and len(sizes) == 4 and sizes[1] * sizes[3] == heads * dim, NAME, name, cache,
          f"[blocks, block_size, {heads}, {dim}]"
          + (f" or [blocks, {heads * dim} / n, block_size, n]" if mode == "PA_NZ" else ""))
    return rows.reshape(rows.shape[0], sizes[1], sizes[3]), cache.transpose(1, 2)


@define(NAME)
def scatter(key: Any, value: Any, key_cache: Any, value_cache: Any, slot_mapping: Any, *,
            compress_lens: Any = None, compress_seq_offsets: Any = None, seq_lens: Any = None,
            cache_mode: Any = "PA_NZ") -> None:
    refuse(NAME, compress_lens=compress_lens, compress_seq_offsets=compress_seq_offsets,
           seq_lens=seq_lens)
    check(cache_mode in (None, "Norm", "PA_NZ"), NAME, "cache_mode", cache_mode,
          "None, 'Norm' or 'PA_NZ'")
    check(key.dim() == 3, NAME, "key", key, "[tokens, heads, dim]")
    check(value.dim() == 3 and value.shape[:2] == key.shape[:2] and value.dtype == key.dtype, NAME,
          "value", value, f"[{key.shape[0]}, {key.shape[1]}, dim] of {key.dtype}")
    check(str(slot_mapping.dtype) in ("torch.int32", "torch.int64")
          and list(slot_mapping.shape) == [key.shape[0]], NAME, "slot_mapping", slot_mapping,
          f"[{key.shape[0]}] of int32 or int64")
    check_device(NAME, key.device, value=value, key_cache=key_cache, value_cache=value_cache,
                 slot_mapping=slot_mapping)
    check_written(NAME, {"key_cache": key_cache, "value_cache": value_cache},
                  {"key": key, "value": value, "slot_mapping": slot_mapping})
    for name, cache in (("key_cache", key_cache), ("value_cache", value_cache)):
        check(cache.dtype == key.dtype, NAME, name, cache, f"the dtype of key, {key.dtype}")
    mode = cache_mode or "Norm"
    keys, keys_there = _rows_and_cache(key, key_cache, mode, "key_cache")
    values, values_there = _rows_and_cache(value, value_cache, mode, "value_cache")
    check(keys_there.shape[:2] == values_there.shape[:2], NAME, "value_cache", value_cache,
          f"the blocks and block_size of key_cache, {list(keys_there.shape[:2])}")
    paged.scatter_rows(keys_there, values_there, keys, values, slot_mapping)


@define(NAME + "_functional")
def scatter_functional(key: Any, value: Any, key_cache: Any, value_cache: Any, slot_mapping: Any,
                       **options: Any) -> tuple[Any, Any]:
    copies = key_cache.clone(), value_cache.clone()
    scatter(key, value, *copies, slot_mapping, **options)
    return copies
