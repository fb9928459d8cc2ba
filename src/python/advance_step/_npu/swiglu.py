# SPDX-License-Identifier: Apache-2.0
"""npu_swiglu, silu of the first half times the second half, and its gradient."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape
from .table import define

torch: Any = importlib.import_module("torch")


def _halves(operator: str, input: Any, dim: int) -> tuple[Any, Any]:
    check_floating(operator, input=input)
    check(-input.dim() <= dim < input.dim(), operator, "dim", dim,
          f"a dimension of the input, which has {input.dim()}")
    check(input.shape[dim] % 2 == 0, operator, "input", input, f"an even size of dimension {dim}")
    first, second = input.float().chunk(2, dim) if input.shape[dim] else (input.float(),) * 2
    return first, second


@define("npu_swiglu")
def swiglu(input: Any, dim: int = -1) -> Any:
    first, second = _halves("npu_swiglu", input, dim)
    return (torch.nn.functional.silu(first) * second).to(input.dtype)


@define("npu_swiglu_backward")
def swiglu_backward(grad_output: Any, input: Any, dim: int = -1) -> Any:
    """With s = sigmoid(a): d silu(a) = s * (1 + a * (1 - s))."""
    first, second = _halves("npu_swiglu_backward", input, dim)
    check_shape("npu_swiglu_backward", "grad_output", grad_output, first.shape)
    wide, sigmoid = grad_output.float(), torch.sigmoid(first)
    into_first = wide * second * sigmoid * (1 + first * (1 - sigmoid))
    return torch.cat((into_first, wide * first * sigmoid), dim).to(input.dtype)
