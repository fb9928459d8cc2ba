# SPDX-License-Identifier: Apache-2.0
"""npu_rms_norm, npu_add_rms_norm, their gradients and kin, computed in float32."""

from __future__ import annotations

from typing import Any

from .checks import check, check_floating, check_shape, check_written
from .quant import per_token
from .table import define


def _normed_dims(operator: str, x: Any, gamma: Any) -> list[int]:
    """Returns the dimensions of gamma, counted from the end."""
    check_floating(operator, input=x, gamma=gamma)
    check(0 < gamma.dim() <= x.dim() and x.shape[x.dim() - gamma.dim():] == gamma.shape, operator,
          "gamma", gamma, f"the shape of the last dimensions of the input, {list(x.shape)}")
    return list(range(-gamma.dim(), 0))


def _norm(operator: str, x: Any, gamma: Any, epsilon: float) -> tuple[Any, Any]:
    dims = _normed_dims(operator, x, gamma)
    wide = x.float()
    rstd = (wide.square().mean(dims, keepdim=True) + epsilon).rsqrt()
    return (wide * rstd * gamma.float()).to(x.dtype), rstd


@define("npu_rms_norm")
def rms_norm(input: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    return _norm("npu_rms_norm", input, gamma, epsilon)


@define("npu_rms_norm_backward")
def rms_norm_backward(dy: Any, input: Any, gamma: Any, rstd: Any) -> tuple[Any, Any]:
    """With n = x * rstd and g = dy * gamma: dx = rstd * (g - n * mean(g * n)), dgamma = sum(dy * n)."""
    dims = _normed_dims("npu_rms_norm_backward", input, gamma)
    check_shape("npu_rms_norm_backward", "dy", dy, input.shape)
    check_shape("npu_rms_norm_backward", "rstd", rstd,
                [*input.shape[:input.dim() - gamma.dim()], *(1 for _ in dims)])
    wide, normed = dy.float(), input.float() * rstd
    scaled = wide * gamma.float()
    dx = rstd * (scaled - normed * (scaled * normed).mean(dims, keepdim=True))
    dgamma = (wide * normed).reshape(-1, *gamma.shape).sum(0)
    return dx.to(input.dtype), dgamma


def _same(operator: str, x1: Any, x2: Any) -> None:
    check(x1.shape == x2.shape and x1.dtype == x2.dtype, operator, "x2", x2,
          f"the shape and dtype of x1, {list(x1.shape)} and {x1.dtype}")


@define("npu_add_rms_norm")
def add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any, Any]:
    _same("npu_add_rms_norm", x1, x2)
    x = x1 + x2
    y, rstd = _norm("npu_add_rms_norm", x, gamma, epsilon)
    return y, rstd, x


@define("npu_add_rms_norm_v2")
def add_rms_norm_in_place(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-6) -> Any:
    """Writes y into x1 and x into x2."""
    check_written("npu_add_rms_norm_v2", {"x1": x1, "x2": x2}, {})
    y, rstd, x = add_rms_norm(x1, x2, gamma, epsilon)
    x1.copy_(y)
    x2.copy_(x)
    return rstd


@define("npu_add_rms_norm_v2_functional")
def add_rms_norm_functional(x1: Any, x2: Any, gamma: Any,
                            epsilon: float = 1e-6) -> tuple[Any, Any, Any]:
    y, rstd, x = add_rms_norm(x1, x2, gamma, epsilon)
    return rstd, y, x


@define("_C_ascend::npu_add_rms_norm_bias")
def add_rms_norm_bias(x1: Any, x2: Any, gamma: Any, beta: Any = None,
                      epsilon: float = 1e-6) -> tuple[Any, Any, Any]:
    """Returns y with the bias, rstd, and x1 + x2."""
    _same("npu_add_rms_norm_bias", x1, x2)
    x = x1 + x2
    y, rstd = _norm("npu_add_rms_norm_bias", x, gamma, epsilon)
    if beta is not None:
        check_shape("npu_add_rms_norm_bias", "beta", beta, gamma.shape)
        y = (y + beta).to(x.dtype)
    return y, rstd, x


@define("npu_gemma_rms_norm")
def gemma_rms_norm(input: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    """Returns the norm with the factors 1 + gamma."""
    return _norm("npu_gemma_rms_norm", input, 1 + gamma.float(), epsilon)


@define("_C_ascend::npu_gemma_rms_norm")
def custom_gemma_rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    return _norm("npu_gemma_rms_norm", x, 1 + gamma.float(), epsilon)


@define("_C_ascend::npu_rms_norm_dynamic_quant")
def rms_norm_dynamic_quant(x: Any, gamma: Any, smooth_scale: Any = None, beta: Any = None,
                           epsilon: float = 1e-6) -> tuple[Any, Any]:
    """Returns the norm as int8, and the scale of each row."""
    operator = "npu_rms_norm_dynamic_quant"
    y, _ = _norm(operator, x, gamma, epsilon)
    for name, factor in (("beta", beta), ("smooth_scale", smooth_scale)):
        if factor is not None:
            check_shape(operator, name, factor, gamma.shape)
    y = y.float() if beta is None else y.float() + beta.float()
    return per_token(y if smooth_scale is None else y * smooth_scale.float())
