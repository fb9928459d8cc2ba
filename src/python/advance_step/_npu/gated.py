# SPDX-License-Identifier: Apache-2.0
"""npu_swiglu, npu_geglu: an activation of one half times the other half; npu_fast_gelu."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape
from .table import define

torch: Any = importlib.import_module("torch")

_APPROXIMATE = ("none", "tanh")  # of gelu, by its number
_SLOPE = 1.702  # of the sigmoid that stands for the normal distribution in fast gelu


def _halves(operator: str, input: Any, dim: int) -> tuple[Any, Any]:
    check_floating(operator, input=input)
    check(-input.dim() <= dim < input.dim(), operator, "dim", dim,
          f"a dimension of the input, which has {input.dim()}")
    check(input.shape[dim] % 2 == 0, operator, "input", input, f"an even size of dimension {dim}")
    first, second = input.float().chunk(2, dim) if input.shape[dim] else (input.float(),) * 2
    return first, second


@define("npu_fast_gelu")
def fast_gelu(input: Any) -> Any:
    check_floating("npu_fast_gelu", input=input)
    wide = input.float()
    return (wide * torch.sigmoid(_SLOPE * wide)).to(input.dtype)


@define("npu_fast_gelu_backward")
def fast_gelu_backward(grad: Any, input: Any) -> Any:
    name = "npu_fast_gelu_backward"
    check_floating(name, grad=grad, input=input)
    check_shape(name, "grad", grad, input.shape)
    wide = input.float()
    sigmoid = torch.sigmoid(_SLOPE * wide)
    return (grad.float() * sigmoid * (1 + _SLOPE * wide * (1 - sigmoid))).to(input.dtype)


@define("npu_swiglu")
def swiglu(input: Any, dim: int = -1) -> Any:
    """silu of the first half times the second one."""
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


def _plain_and_gate(operator: str, input: Any, dim: int, approximate: int,
                    activate_left: bool) -> tuple[Any, Any]:
    """Returns the half that is not activated, and the one that is."""
    first, second = _halves(operator, input, dim)
    check(approximate in range(len(_APPROXIMATE)), operator, "approximate", approximate,
          "0 for gelu, or 1 for gelu by tanh")
    return (second, first) if activate_left else (first, second)


@define("npu_geglu")
def geglu(input: Any, dim: int = -1, approximate: int = 1,
          activate_left: bool = False) -> tuple[Any, Any]:
    """One half times gelu of the other one, the second unless activate_left; and that gelu."""
    plain, gate = _plain_and_gate("npu_geglu", input, dim, approximate, activate_left)
    gelu = torch.nn.functional.gelu(gate, approximate=_APPROXIMATE[approximate])
    return (plain * gelu).to(input.dtype), gelu.to(input.dtype)


@define("npu_geglu_grad")
def geglu_grad(grad_output: Any, input: Any, gelu: Any, dim: int = -1, approximate: int = 1,
               activate_left: bool = False) -> Any:
    plain, gate = _plain_and_gate("npu_geglu_grad", input, dim, approximate, activate_left)
    check_shape("npu_geglu_grad", "grad_output", grad_output, plain.shape)
    check_shape("npu_geglu_grad", "gelu", gelu, plain.shape)
    wide = grad_output.float()
    into_plain = wide * gelu.float()
    into_gate = torch.ops.aten.gelu_backward(wide * plain, gate,
                                             approximate=_APPROXIMATE[approximate])
    both = (into_gate, into_plain) if activate_left else (into_plain, into_gate)
    return torch.cat(both, dim).to(input.dtype)
