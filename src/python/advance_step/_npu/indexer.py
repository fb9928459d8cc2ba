# SPDX-License-Identifier: Apache-2.0
"""The lightning indexer: which tokens of the context a query attends to.

The score of a token is the sum over heads of weight * max(query . key, 0).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from .cache import check_places, used_columns
from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")

_GATHERED = 1 << 24  # elements of keys that are gathered at a time
_ALL, _CAUSAL = 0, 3  # modes
_NOTHING = float("-inf")


@dataclass
class _Context:
    """The cached keys, [rows, D], and of each query the row for each column of its context, and how many of
    the columns it sees."""
    keys: Any
    scales: Any  # of the rows of quantized keys, or None
    rows: Any  # [queries, columns]
    seen: Any  # [queries]

    def part(self, begin: int, end: int) -> _Context:
        return _Context(self.keys, self.scales, self.rows[begin:end], self.seen[begin:end])


def _check(name: str, query: Any, key: Any, weights: Any, layout_query: str, layout_key: str,
           sparse_count: int, sparse_mode: int) -> None:
    check(layout_query in ("TND", "BSND"), name, "layout_query", layout_query, "'TND' or 'BSND'")
    check(layout_key in ("PA_BSND", layout_query), name, "layout_key", layout_key,
          f"'PA_BSND', or {layout_query!r} as layout_query")
    check(sparse_mode in (_ALL, _CAUSAL), name, "sparse_mode", sparse_mode, f"{_ALL} or {_CAUSAL}")
    check(sparse_count > 0, name, "sparse_count", sparse_count, "more than 0")
    check(query.dim() == len(layout_query), name, "query", query, f"{len(layout_query)} dimensions, as layout_query")
    dims = 3 if layout_key == "TND" else 4
    check(key.dim() == dims and key.shape[-2] == 1 and key.shape[-1] == query.shape[-1], name, "key", key,
          f"{dims} dimensions with one head of {query.shape[-1]} elements")
    check_shape(name, "weights", weights, query.shape[:-1])


def _queries(name: str, query: Any, ends: Any, layout: str, requests: int) -> tuple[Any, Any, Any]:
    """Returns the request of each query, how many queries follow it in the request, and whether it is one:
    behind the lengths there may be rows of padding."""
    count = query.shape[0] if layout == "TND" else query.shape[0] * query.shape[1]
    token = torch.arange(count, device=query.device)
    if layout == "TND":
        check(ends is not None, name, "actual_seq_lengths_query", ends, "a tensor, as layout_query is 'TND'")
        ends = ends.long()
        request = torch.searchsorted(ends, token, right=True).clamp(max=requests - 1)
        behind = ends.index_select(0, request) - 1 - token
        return request, behind, behind >= 0
    request = torch.div(token, query.shape[1], rounding_mode="floor")
    place = token % query.shape[1]
    if ends is None:
        behind = query.shape[1] - 1 - place
    else:
        check_shape(name, "actual_seq_lengths_query", ends, [requests])
        behind = ends.long().index_select(0, request) - 1 - place
    return request, behind, behind >= 0


def _columns(name: str, key: Any, lengths: Any, table: Any, layout: str, request: Any) -> tuple[Any, Any]:
    """Returns the row of the keys for each column of each query's context, and the length of the context."""
    if layout == "BSND":
        size = key.shape[1]
        column = torch.arange(size, device=key.device)
        length = torch.full_like(request, size) if lengths is None else lengths.long().index_select(0, request)
        return request.unsqueeze(1) * size + column, length
    check(lengths is not None, name, "actual_seq_lengths_key", lengths, f"a tensor, as layout_key is {layout!r}")
    lengths = lengths.long()
    if layout == "TND":
        first = torch.cat((lengths.new_zeros(1), lengths[:-1]))
        begin = first.index_select(0, request)
        column = torch.arange(key.shape[0], device=key.device)
        rows = (begin.unsqueeze(1) + column).clamp(max=key.shape[0] - 1)
        return rows, lengths.index_select(0, request) - begin
    check(table is not None and table.dim() == 2 and table.shape[0] >= lengths.shape[0], name, "block_table", table,
          f"[at least {lengths.shape[0]} requests, blocks of a request], as layout_key is 'PA_BSND'")
    size = key.shape[1]
    column = torch.arange(table.shape[1] * size, device=key.device)
    length = lengths.index_select(0, request)
    block = table.long().index_select(0, request).repeat_interleave(size, 1)
    block = torch.where(column < length.unsqueeze(1), block, 0)
    check_places(name, "block_table", block, key.shape[0])
    return block * size + column % size, length


def _scores(query: Any, weights: Any, context: _Context) -> Any:
    """Returns [queries, columns] in float32; what is not seen has none."""
    rows, flat = context.rows, context.rows.flatten()
    # Only what is gathered is widened: the cache has most of the device's memory.
    found = context.keys.index_select(0, flat).float()
    if context.scales is not None:
        found = found * context.scales.index_select(0, flat).float().unsqueeze(1)
    products = torch.relu(query @ found.view(*rows.shape, -1).transpose(1, 2))  # [queries, heads, columns]
    whole = (weights.unsqueeze(1) @ products).squeeze(1)
    column = torch.arange(rows.shape[1], device=rows.device)
    return whole.masked_fill(column >= context.seen.unsqueeze(1), _NOTHING)


def _largest(scores: Any, count: int) -> tuple[Any, Any]:
    """Returns the columns of the largest scores, the first of equal ones first, and the scores. Where
    fewer are seen the column is -1."""
    values, columns = torch.sort(scores, dim=-1, descending=True, stable=True)
    values, columns = values[:, :count], columns[:, :count]
    columns = columns.masked_fill(values == _NOTHING, -1)
    missing = count - columns.shape[1]
    if missing > 0:
        columns = torch.nn.functional.pad(columns, (0, missing), value=-1)
        values = torch.nn.functional.pad(values, (0, missing), value=_NOTHING)
    return columns.to(torch.int32), values


def choose(name: str, query: Any, key: Any, weights: Any, ends: Any, lengths: Any, block_table: Any,
           layout_query: str, layout_key: str, sparse_count: int, sparse_mode: int,
           key_scales: Any = None) -> tuple[Any, Any]:
    """Returns the chosen columns, and their scores in float32. No shape depends on a length, so that a graph
    can be replayed with others."""
    _check(name, query, key, weights, layout_query, layout_key, sparse_count, sparse_mode)
    given = [each for each in (lengths, ends) if each is not None]
    requests = given[0].shape[0] if given else query.shape[0]
    request, behind, is_query = _queries(name, query, ends, layout_query, requests)
    rows, seen = _columns(name, key, lengths, block_table, layout_key, request)
    if sparse_mode == _CAUSAL:
        seen = seen - behind
    seen = torch.where(is_query, seen, 0)
    rows = rows[:, :used_columns(torch.arange(rows.shape[1], device=rows.device) < seen.unsqueeze(1))]
    context = _Context(key.reshape(-1, key.shape[-1]), key_scales, rows, seen)
    flat = query.reshape(-1, *query.shape[-2:]).float()
    factors = weights.reshape(flat.shape[:2]).float()
    step = max(_GATHERED // max(rows.shape[1] * key.shape[-1], 1), 1)
    parts = [_largest(_scores(flat[at:at + step], factors[at:at + step], context.part(at, at + step)), sparse_count)
             for at in range(0, flat.shape[0], step)]
    columns, values = (torch.cat(part) for part in zip(*parts))
    shape = [*query.shape[:-2], 1, sparse_count]
    return columns.view(shape), values.view(shape)


@define("npu_lightning_indexer", "_C_ascend::npu_lightning_indexer")
def lightning_indexer(query: Any, key: Any, weights: Any, *, actual_seq_lengths_query: Any = None,
                      actual_seq_lengths_key: Any = None, block_table: Any = None, layout_query: str = "BSND",
                      layout_key: str = "BSND", sparse_count: int = 2048, sparse_mode: int = _CAUSAL,
                      return_value: bool = False, **bands: Any) -> tuple[Any, Any]:
    """Returns the columns of the largest scores as int32, and with return_value the scores."""
    name = "npu_lightning_indexer"
    refuse(name, **{band: given for band, given in bands.items() if given != (1 << 63) - 1})
    check_floating(name, query=query, key=key, weights=weights)
    columns, values = choose(name, query, key, weights, actual_seq_lengths_query, actual_seq_lengths_key,
                             block_table, layout_query, layout_key, sparse_count, sparse_mode)
    return columns, values.to(query.dtype) if return_value else query.new_empty((0,))


@define("_C_ascend::npu_lightning_indexer_quant")
def lightning_indexer_quant(query: Any, key: Any, weights: Any, query_dequant_scale: Any, key_dequant_scale: Any,
                            *, actual_seq_lengths_query: Any = None, actual_seq_lengths_key: Any = None,
                            block_table: Any = None, query_quant_mode: int = 0, key_quant_mode: int = 0,
                            layout_query: str = "BSND", layout_key: str = "BSND", sparse_count: int = 2048,
                            sparse_mode: int = _CAUSAL) -> Any:
    """Returns the columns of the largest scores of int8 with a scale for each head of each token."""
    name = "npu_lightning_indexer_quant"
    refuse(name, query_quant_mode=query_quant_mode, key_quant_mode=key_quant_mode)
    for which, tensor, scale in (("query", query, query_dequant_scale), ("key", key, key_dequant_scale)):
        check(tensor.dtype == torch.int8, name, which, tensor, "int8")
        check_shape(name, f"{which}_dequant_scale", scale, tensor.shape[:-1])
    wide = query.float() * query_dequant_scale.float().unsqueeze(-1)
    return choose(name, wide, key, weights, actual_seq_lengths_query, actual_seq_lengths_key, block_table,
                  layout_query, layout_key, sparse_count, sparse_mode, key_dequant_scale.reshape(-1))[0]
