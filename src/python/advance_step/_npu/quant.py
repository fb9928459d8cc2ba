# SPDX-License-Identifier: Apache-2.0
"""Quantization to int8 and int4, and products of quantized matrices."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape, refuse
from .dtypes import dtype_of
from .table import define
from .weights import PACKED, columns, packed, unpacked

torch: Any = importlib.import_module("torch")

_LARGEST = 127.0
_LARGEST_INT4 = 7.0
_QUINT4 = 16  # the number of the ScalarType quint4x2, which stands for int4
_INT8 = 1  # the number of its ScalarType
_QINT8 = 12  # the number of its ScalarType
_SMALLEST_SCALE = 1e-12  # of a row of zeros, whose quantized values are 0


def per_token(rows: Any) -> tuple[Any, Any]:
    """Returns int8 rows and their float32 scales, such that the largest element of a row is 127."""
    wide = rows.float()
    scales = wide.abs().amax(-1) / _LARGEST
    quantized = torch.round(wide / scales.clamp(min=_SMALLEST_SCALE).unsqueeze(-1))
    return quantized.clamp(-128, 127).to(torch.int8), scales


def int4_by_scales(wide: Any, scales: Any) -> Any:
    """Returns packed int4 of float32 rows that are divided by scales, which broadcast with them."""
    return packed(torch.round(wide / scales.clamp(min=_SMALLEST_SCALE)).clamp(-8, 7))


def _per_token_int4(rows: Any) -> tuple[Any, Any]:
    """Returns packed int4 rows and their float32 scales, such that the largest element of a row is 7."""
    wide = rows.float()
    scales = wide.abs().amax(-1) / _LARGEST_INT4
    return int4_by_scales(wide, scales.unsqueeze(-1)), scales


@define("npu_dynamic_quant")
def dynamic_quant(input: Any, *, smooth_scales: Any = None, group_index: Any = None, dst_type: Any = None,
                  quant_mode: str = "pertoken", dst_type_max: float = 0.0) -> tuple[Any, Any]:
    name = "npu_dynamic_quant"
    refuse(name, group_index=group_index, dst_type_max=dst_type_max)
    check_floating(name, input=input)
    check(quant_mode == "pertoken", name, "quant_mode", quant_mode, "'pertoken'")
    int4 = dst_type in (_QUINT4, torch.quint4x2)
    check(int4 or dst_type in (None, _INT8, torch.int8), name, "dst_type", dst_type, "torch.int8 or torch.quint4x2")
    check(not int4 or (input.dim() > 0 and input.shape[-1] % PACKED == 0), name, "input", input,
          f"a last dimension that is a multiple of {PACKED}, as eight int4 are an int32")
    quantized = _per_token_int4 if int4 else per_token
    if smooth_scales is None:
        return quantized(input)
    check_shape(name, "smooth_scales", smooth_scales, input.shape[-1:])
    return quantized(input.float() * smooth_scales.float())


@define("npu_quantize")
def quantize(input: Any, scales: Any, zero_points: Any, dtype: Any, axis: int = 1,
             div_mode: bool = True) -> Any:
    name = "npu_quantize"
    check_floating(name, input=input)
    check(dtype == _QINT8 or dtype_of(name, dtype, None) == torch.int8, name, "dtype", dtype,
          "torch.qint8 or torch.int8, whose result is int8")
    at = axis % max(input.dim(), 1)
    sizes = [-1 if place == at else 1 for place in range(input.dim())]
    check(scales.numel() in (1, input.shape[at]), name, "scales", scales,
          f"1 or {input.shape[at]} elements, as dimension {axis} of input has")
    factor = scales.float().reshape(sizes)
    wide = input.float() / factor if div_mode else input.float() * factor
    if zero_points is not None:
        wide = wide + zero_points.float().reshape(sizes)
    return torch.round(wide).clamp(-128, 127).to(torch.int8)


@define("npu_quant_matmul")
def quant_matmul(x1: Any, x2: Any, scale: Any, *, offset: Any = None, pertoken_scale: Any = None,
                 bias: Any = None, output_dtype: Any = None, **others: Any) -> Any:
    """Returns (x1 x2 + int32 bias) * scale * pertoken_scale + floating bias, of matrices of int8, or of int32
    that hold int4."""
    name = "npu_quant_matmul"
    refuse(name, offset=offset, **others)
    for which, matrix in (("x1", x1), ("x2", x2)):
        check(matrix.dtype in (torch.int8, torch.int32) and matrix.dim() >= 2, name, which, matrix,
              "int8, or int32 that hold int4, of at least two dimensions")
    check(x1.dtype == x2.dtype, name, "x2", x2, f"the type of x1, {x1.dtype}")
    if x1.dtype == torch.int32:
        x1 = unpacked(x1)
        x2 = columns(x2, x1.shape[-1])
    check(x1.shape[-1] == x2.shape[-2], name, "x2", x2, f"{x1.shape[-1]} rows, as x1 has columns")
    check(scale.numel() in (1, x2.shape[-1]), name, "scale", scale,
          f"1 or {x2.shape[-1]} elements, one for each column")
    whole = x1.double() @ x2.double()  # exact
    if bias is not None and not bias.is_floating_point():
        whole, bias = whole + bias.double(), None
    y = whole.float() * scale.float()
    if pertoken_scale is not None:
        check(pertoken_scale.numel() == x1.shape[-2], name, "pertoken_scale", pertoken_scale,
              f"{x1.shape[-2]} elements, one for each row")
        y = y * pertoken_scale.float().reshape(-1, 1)
    if bias is not None:
        y = y + bias.float()
    result = dtype_of(name, output_dtype, torch.int8)
    return (torch.round(y).clamp(-128, 127) if result == torch.int8 else y).to(result)


@define("npu_transpose_batchmatmul")
def transpose_batchmatmul(input: Any, weight: Any, *, bias: Any = None, scale: Any = None,
                          perm_x1: Any = None, perm_x2: Any = None, perm_y: Any = None,
                          batch_split_factor: int = 1) -> Any:
    name = "npu_transpose_batchmatmul"
    refuse(name, bias=bias, scale=scale)
    check(batch_split_factor == 1, name, "batch_split_factor", batch_split_factor, "1")
    check_floating(name, input=input, weight=weight)
    order = (perm_x1 or (0, 1, 2), perm_x2 or (0, 1, 2), perm_y or (1, 0, 2))
    for which, perm in zip(("perm_x1", "perm_x2", "perm_y"), order):
        check(sorted(perm) == [0, 1, 2], name, which, perm, "an order of 0, 1, 2")
    product = torch.matmul(input.permute(*order[0]).float(), weight.permute(*order[1]).float())
    return product.to(input.dtype).permute(*order[2]).contiguous()
