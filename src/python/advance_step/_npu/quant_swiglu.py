# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's operators that make int8 of swiglu: of a product of int8, or with the product."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .checks import check, check_shape, refuse
from .moe import grouped_matmul
from .quant import per_token
from .table import define

torch: Any = importlib.import_module("torch")


def _swiglu(gate: Any, up: Any, limit: float, alpha: float = 1.0, bias: float = 0.0) -> Any:
    """With a limit above 0 the gate is at most that, and the other half within it."""
    if limit > 0:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return gate * torch.sigmoid(alpha * gate) * (up + bias)


@define("_C_ascend::npu_dequant_swiglu_quant")
def dequant_swiglu_quant(x: Any, *, weight_scale: Any = None, activation_scale: Any = None, bias: Any = None,
                         quant_scale: Any = None, quant_offset: Any = None, group_index: Any = None,
                         activate_left: bool = True, quant_mode: int = 0, swiglu_mode: int = 0,
                         clamp_limit: float = 0.0, glu_alpha: float = 1.0,
                         glu_bias: float = 0.0) -> tuple[Any, Any]:
    """Returns swiglu of x * weight_scale * activation_scale as int8 with a scale for each row."""
    name = "npu_dequant_swiglu_quant"
    refuse(name, bias=bias, quant_scale=quant_scale, quant_offset=quant_offset, group_index=group_index)
    check(quant_mode == 1, name, "quant_mode", quant_mode, "1 (a scale for each row)")
    check(swiglu_mode in (0, 1), name, "swiglu_mode", swiglu_mode, "0, or 1 with clamp_limit, glu_alpha and glu_bias")
    check(x.dim() > 1 and x.shape[-1] % 2 == 0, name, "x", x, "at least 2 dimensions, the last one even")
    wide = x.float()
    if weight_scale is not None:
        check(weight_scale.numel() == x.shape[-1], name, "weight_scale", weight_scale, f"{x.shape[-1]} elements")
        wide = wide * weight_scale.float().reshape(-1)
    if activation_scale is not None:
        rows = x[..., 0].numel()
        check(activation_scale.numel() == rows, name, "activation_scale", activation_scale, f"{rows} elements")
        wide = wide * activation_scale.float().reshape(*x.shape[:-1], 1)
    first, second = wide.chunk(2, -1)
    gate, up = (first, second) if activate_left else (second, first)
    return per_token(_swiglu(gate, up, clamp_limit, glu_alpha, glu_bias) if swiglu_mode else _swiglu(gate, up, 0.0))


def _grouped(name: str, x: Any, weight: Sequence[Any], weight_scale: Sequence[Any], x_scale: Any, group_list: Any,
             options: dict[str, Any], limit: float) -> tuple[Any, Any, Any]:
    refuse(name, **options)
    check(x.dtype == torch.int8 and x.dim() == 2, name, "x", x, "int8 of two dimensions")
    for matrix in weight:
        check(matrix.dtype == torch.int8, name, "weight", matrix, "int8")
    check(len(weight_scale) == len(weight), name, "weight_scale", list(weight_scale), f"{len(weight)} tensors")
    check_shape(name, "x_scale", x_scale, x.shape[:1])
    y = grouped_matmul([x], list(weight), scale=list(weight_scale), per_token_scale=[x_scale],
                       group_list=group_list, group_type=0, output_dtype=torch.float32)[0]
    gate, up = y.chunk(2, -1)
    quantized, scales = per_token(_swiglu(gate, up, limit))
    return quantized, scales, scales.new_empty((0,))


@define("_C_ascend::grouped_matmul_swiglu_quant_weight_nz")
def grouped_swiglu_quant(x: Any, weight: Any, weight_scale: Any, x_scale: Any, group_list: Any, *, bias: Any = None,
                         offset: Any = None, swiglu_limit: float = 0.0) -> tuple[Any, Any, Any]:
    """Returns int8 of swiglu of the rows of each expert times its matrix, and the rows' scales. group_list has
    the ends of the experts' rows."""
    return _grouped("grouped_matmul_swiglu_quant_weight_nz", x, [weight], [weight_scale], x_scale, group_list,
                    {"bias": bias, "offset": offset}, swiglu_limit)


@define("_C_ascend::grouped_matmul_swiglu_quant_weight_nz_tensor_list")
def grouped_swiglu_quant_list(x: Any, weight: Sequence[Any], weight_scale: Sequence[Any], x_scale: Any,
                              group_list: Any, *, bias: Any = None, offset: Any = None,
                              swiglu_limit: float = 0.0) -> tuple[Any, Any, Any]:
    """grouped_matmul_swiglu_quant_weight_nz with a list of the experts' matrices, or of one tensor with all."""
    return _grouped("grouped_matmul_swiglu_quant_weight_nz_tensor_list", x, weight, weight_scale, x_scale,
                    group_list, {"bias": bias, "offset": offset}, swiglu_limit)
