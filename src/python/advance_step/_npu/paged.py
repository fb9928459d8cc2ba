# SPDX-License-Identifier: Apache-2.0
"""Access to a paged KV cache: by the extension in stream order, or at once in Python."""

from __future__ import annotations

import importlib
from typing import Any

torch: Any = importlib.import_module("torch")


def _extension() -> Any:
    """Returns the extension's operators (torch_kernels/paged.h), or None."""
    from .. import _host_operators
    return torch.ops.advance_step if _host_operators.form() != "python" else None


def scatter_rows(key_cache: Any, value_cache: Any, key: Any, value: Any, slots: Any) -> None:
    """Writes row i of key and value to cache[slot / size][slot % size], with slot = slots[i]."""
    queued = _extension()
    if queued is not None:
        queued.scatter_rows_(key_cache, value_cache, key, value, slots)
        return
    blocks, size = key_cache.shape[:2]
    for row, slot in enumerate(slots.tolist()):
        if not 0 <= slot < blocks * size:
            raise IndexError(
                f"slot_mapping of npu_scatter_pa_kv_cache: row {row} has slot {slot}; expected "
                f"0 <= slot < {blocks * size}, the number of slots ({blocks} blocks of {size})")
    block = torch.div(slots.long(), max(size, 1), rounding_mode="floor")
    place = (block, slots.long() - block * size)
    key_cache.index_put_(place, key)
    value_cache.index_put_(place, value)


def gather_blocks(key_cache: Any, value_cache: Any, table: Any,
                  lengths: list[int]) -> tuple[Any, Any]:
    """Returns keys and values, [requests, longest, ...]: the tokens of the caches [blocks, size, ...]
    that the rows of the table name. Tokens after a request's length are 0; table entries after it are
    not read."""
    queued = _extension()
    if queued is not None:
        keys, values = queued.gather_blocks(key_cache, value_cache, table, lengths)
        return keys, values
    size, longest = key_cache.shape[1], max(lengths, default=0)
    keys, values = (cache.new_zeros((len(lengths), longest, *cache.shape[2:]))
                    for cache in (key_cache, value_cache))
    for row, (entries, length) in enumerate(zip(table.tolist(), lengths)):
        for column, begin in enumerate(range(0, length, size)):
            block, end = entries[column], min(begin + size, length)
            if not 0 <= block < key_cache.shape[0]:
                raise IndexError(
                    f"block_table of npu_fused_infer_attention_score: row {row}, column {column} has "
                    f"block {block}; expected 0 <= block < {key_cache.shape[0]}, the number of blocks")
            keys[row, begin:end] = key_cache[block, :end - begin]
            values[row, begin:end] = value_cache[block, :end - begin]
    return keys, values
