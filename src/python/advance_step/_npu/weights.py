# SPDX-License-Identifier: Apache-2.0
"""Products with weights of int8, or of int4: eight in an int32, the first in its lowest bits."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape, refuse
from .table import define

torch: Any = importlib.import_module("torch")

PACKED = 8  # int4 in an int32
_BITS = 4


def _shifts(device: Any) -> Any:
    return torch.arange(PACKED, device=device, dtype=torch.int32) * _BITS


def unpacked(weight: Any) -> Any:
    """Returns the int4 of an int32 tensor along its last dimension, as int32."""
    high = weight.unsqueeze(-1) << (PACKED - 1) * _BITS - _shifts(weight.device)
    return (high >> (PACKED - 1) * _BITS).flatten(-2)


def packed(numbers: Any) -> Any:
    """Returns int32 with eight numbers of the last dimension in each, whose low four bits they have."""
    low = numbers.to(torch.int32).unflatten(-1, (-1, PACKED)) & 15
    # No two have a common bit, so the sum is their union; int32 wraps as it must.
    return (low << _shifts(numbers.device)).sum(-1, dtype=torch.int32)


def columns(weight: Any, rows: int) -> Any:
    """Returns the int4 of a matrix of int32, packed along its last dimension, or where it is a transposed
    view of such a one, along the one before."""
    if weight.shape[-2] * PACKED == rows:
        return unpacked(weight.transpose(-1, -2)).transpose(-1, -2)
    return unpacked(weight)


@define("npu_convert_weight_to_int4pack")
def convert_weight_to_int4pack(weight: Any, inner_k_tiles: int = 0) -> Any:
    name = "npu_convert_weight_to_int4pack"
    check(weight.dtype == torch.int32 and weight.dim() in (2, 3) and weight.shape[-1] % PACKED == 0, name, "weight",
          weight, f"int32 of 2 or 3 dimensions, the last a multiple of {PACKED}")
    return packed(weight)


def _whole(name: str, weight: Any, rows: int) -> Any:
    """Returns the weight as [rows, columns]."""
    check(weight.dim() == 2 and weight.dtype in (torch.int8, torch.int32), name, "weight", weight,
          "2 dimensions of int8, or of int32 that hold int4")
    if weight.dtype == torch.int32:
        weight = columns(weight, rows)
    check(weight.shape[0] == rows, name, "weight", weight, f"{rows} rows, as x has columns")
    return weight.float()


def _by_rows(name: str, which: str, factor: Any, rows: int, columns: int, group: int) -> Any:
    """Returns a factor for the whole weight: one number, or one for each column, or those of each group of rows."""
    if factor.numel() == 1:
        return factor.float().reshape(1, 1)
    flat = factor.reshape(1, -1) if factor.dim() == 1 else factor
    groups = -(-rows // group) if group else 1
    check_shape(name, which, flat, [groups, columns])
    return flat.float().repeat_interleave(group, 0)[:rows] if group else flat.float()


@define("npu_weight_quant_batchmatmul")
def weight_quant_batchmatmul(x: Any, weight: Any, antiquant_scale: Any, antiquant_offset: Any = None,
                             quant_scale: Any = None, quant_offset: Any = None, bias: Any = None,
                             antiquant_group_size: int = 0, inner_precise: int = 0,
                             weight_dtype: Any = None) -> Any:
    """Returns x @ ((weight + antiquant_offset) * antiquant_scale) + bias."""
    name = "npu_weight_quant_batchmatmul"
    refuse(name, quant_scale=quant_scale, quant_offset=quant_offset, weight_dtype=weight_dtype)
    check_floating(name, x=x, antiquant_scale=antiquant_scale)
    check(x.dim() == 2, name, "x", x, "2 dimensions")
    check(antiquant_group_size >= 0, name, "antiquant_group_size", antiquant_group_size, "0 or more")
    whole = _whole(name, weight, x.shape[1])
    sizes = (*whole.shape, antiquant_group_size)
    if antiquant_offset is not None:
        whole = whole + _by_rows(name, "antiquant_offset", antiquant_offset, *sizes)
    whole = whole * _by_rows(name, "antiquant_scale", antiquant_scale, *sizes)
    out = x.float() @ whole
    if bias is not None:
        check(bias.numel() == whole.shape[1], name, "bias", bias, f"{whole.shape[1]} elements")
        out = out + bias.float().reshape(-1)
    return out.to(x.dtype)
