# SPDX-License-Identifier: Apache-2.0
"""npu_rotary_mul, the rotary position embedding, and its gradient."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape
from .table import define

torch: Any = importlib.import_module("torch")

_PARTS = {"half": 2, "quarter": 4, "interleave": 2}  # of the last dimension, by mode


def _rotate(x: Any, mode: str, back: bool = False) -> Any:
    """(x1, x2) -> (-x2, x1), of the two halves, of both quarters of each half, or of neighbours;
    `back`: the transpose of it."""
    if mode == "quarter":
        return torch.cat([_rotate(half, "half", back) for half in x.chunk(2, -1)], -1)
    if mode == "half":
        first, second = x.chunk(2, -1)
        return torch.cat((second, -first) if back else (-second, first), -1)
    first, second = x[..., ::2], x[..., 1::2]
    return torch.stack((second, -first) if back else (-second, first), -1).flatten(-2)


def _check(operator: str, input: Any, r1: Any, r2: Any, mode: str) -> None:
    check_floating(operator, input=input, r1=r1, r2=r2)
    check(mode in _PARTS, operator, "rotary_mode", mode, "'half', 'quarter' or 'interleave'")
    check(input.dim() > 0 and input.shape[-1] % _PARTS[mode] == 0, operator, "input", input,
          f"a last dimension that {_PARTS[mode]} divides")
    for name, factor in (("r1", r1), ("r2", r2)):
        check(factor.dim() <= input.dim() and all(
            size in (1, whole) for size, whole in zip(factor.shape[::-1], input.shape[::-1])),
            operator, name, factor, f"a shape that broadcasts to {list(input.shape)}")


@define("npu_rotary_mul")
def rotary_mul(input: Any, r1: Any, r2: Any, rotary_mode: str = "half", rotate: Any = None) -> Any:
    _check("npu_rotary_mul", input, r1, r2, rotary_mode)
    wide = input.float()
    if rotate is None:
        turned = _rotate(wide, rotary_mode)
    else:
        size = input.shape[-1]
        check(list(rotate.shape) == [size, size], "npu_rotary_mul", "rotate", rotate,
              f"shape {[size, size]}")
        turned = wide @ rotate.float()
    return (wide * r1.float() + turned * r2.float()).to(input.dtype)


def _sum_to(gradient: Any, like: Any) -> Any:
    return gradient.sum_to_size(like.shape).to(like.dtype)


@define("npu_rotary_mul_backward")
def rotary_mul_backward(grad: Any, input: Any, r1: Any, r2: Any,
                        rotary_mode: str = "half") -> tuple[Any, Any, Any]:
    _check("npu_rotary_mul_backward", input, r1, r2, rotary_mode)
    check_shape("npu_rotary_mul_backward", "grad", grad, input.shape)
    wide, x = grad.float(), input.float()
    dx = wide * r1.float() + _rotate(wide * r2.float(), rotary_mode, back=True)
    return dx.to(input.dtype), _sum_to(wide * x, r1), _sum_to(wide * _rotate(x, rotary_mode), r2)
