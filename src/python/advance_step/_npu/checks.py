# SPDX-License-Identifier: Apache-2.0
"""Exceptions about arguments: the operator, the argument, what it is and what it may be."""

from __future__ import annotations

from typing import Any


def shown(value: Any) -> str:
    """Returns a short text of the value, which for a tensor is its type and shape."""
    if hasattr(value, "shape"):
        return f"a {str(value.dtype).replace('torch.', '')} tensor of shape {list(value.shape)}"
    return repr(value)


def refuse(operator: str, **arguments: Any) -> None:
    """Raises NotImplementedError if one of the arguments is not None, False, 0 or empty."""
    for name, value in arguments.items():
        if value is not None and value is not False and not (
                isinstance(value, (int, float, str, list, tuple)) and not value):
            raise NotImplementedError(f"{operator}: {name} is {shown(value)}; this argument is not "
                                      "supported, expected its default")


def check(right: bool, operator: str, name: str, value: Any, expected: str) -> None:
    """Raises ValueError unless the argument is right."""
    if not right:
        raise ValueError(f"{operator}: {name} is {shown(value)}; expected {expected}")


def check_floating(operator: str, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        check(tensor.is_floating_point() and tensor.element_size() <= 4, operator, name, tensor,
              "float32, bfloat16 or float16")
