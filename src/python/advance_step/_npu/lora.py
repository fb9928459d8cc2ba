# SPDX-License-Identifier: Apache-2.0
"""LoRA of vllm-ascend: products of rows with the low-rank matrices of their adapters.

bgmv has an adapter for each row, sgmv for each sequence of rows. An adapter below 0 is none: what is
written keeps its values there.
"""

from __future__ import annotations

import importlib
from typing import Any

from .cache import check_places
from .checks import check
from .table import define

torch: Any = importlib.import_module("torch")


def _of_sequences(operator: str, adapters: Any, lengths: Any, rows: int) -> Any:
    """Returns the adapter of each row; rows after the sequences have none."""
    check(lengths.dim() == 1 and adapters.shape == lengths.shape, operator, "lora_indices", adapters,
          f"{list(lengths.shape)}, an adapter for each sequence")
    ends = lengths.long().cumsum(0)
    row = torch.arange(rows, device=lengths.device)
    sequence = torch.searchsorted(ends, row, right=True)
    found = adapters.long().index_select(0, sequence.clamp(max=max(adapters.numel() - 1, 0)))
    return torch.where(sequence < adapters.numel(), found, -1)


def _products(operator: str, x: Any, weight: Any, adapters: Any) -> tuple[Any, Any]:
    """Returns weight[adapter] x for each row in float32, and which rows have no adapter, as a column."""
    matrices = weight.reshape(weight.shape[0], *weight.shape[-2:])
    check(x.dim() == 2 and matrices.shape[2] == x.shape[1], operator, "weight", weight,
          f"{x.shape[-1]} columns, as x has")
    check(adapters.dim() == 1 and adapters.shape[0] == x.shape[0], operator, "indices", adapters,
          f"[{x.shape[0]}], an adapter for each row of x")
    check_places(operator, "indices", adapters, matrices.shape[0], none=True)
    chosen = matrices.index_select(0, adapters.long().clamp(min=0))
    y = torch.bmm(chosen.float(), x.float().unsqueeze(2)).squeeze(2)
    return y, (adapters < 0).unsqueeze(1)


def _shrink(operator: str, x: Any, weight: Any, adapters: Any, y: Any, scale: float) -> None:
    products, without = _products(operator, x, weight, adapters)
    check(list(y.shape) == list(products.shape), operator, "y", y, f"shape {list(products.shape)}")
    y.copy_(torch.where(without, y, (products * scale).to(y.dtype)))


def _expand(operator: str, x: Any, weight: Any, adapters: Any, y: Any, offset: int, size: int) -> Any:
    products, without = _products(operator, x, weight, adapters)
    check(products.shape[1] == size and 0 <= offset and offset + size <= y.shape[-1], operator,
          "slice_size", size, f"{products.shape[1]}, the rows of weight, within y from slice_offset "
          f"{offset} on; y has {y.shape[-1]} columns")
    y.narrow(1, offset, size).add_(products.masked_fill(without, 0).to(y.dtype))
    return y


@define("_C_ascend::bgmv_shrink")
def bgmv_shrink(x: Any, weight: Any, indices: Any, y: Any, scale: float) -> None:
    _shrink("bgmv_shrink", x, weight, indices, y, scale)


@define("_C_ascend::sgmv_shrink")
def sgmv_shrink(x: Any, weight: Any, lora_indices: Any, seq_len: Any, y: Any, scale: float) -> None:
    adapters = _of_sequences("sgmv_shrink", lora_indices, seq_len, x.shape[0])
    _shrink("sgmv_shrink", x, weight, adapters, y, scale)


@define("_C_ascend::bgmv_expand")
def bgmv_expand(x: Any, weight: Any, indices: Any, y: Any, slice_offset: int, slice_size: int) -> Any:
    return _expand("bgmv_expand", x, weight, indices, y, slice_offset, slice_size)


@define("_C_ascend::sgmv_expand")
def sgmv_expand(x: Any, weight: Any, lora_indices: Any, seq_len: Any, y: Any, slice_offset: int,
                slice_size: int) -> Any:
    adapters = _of_sequences("sgmv_expand", lora_indices, seq_len, x.shape[0])
    return _expand("sgmv_expand", x, weight, adapters, y, slice_offset, slice_size)
