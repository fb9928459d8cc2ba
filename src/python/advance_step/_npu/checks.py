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


def check_shape(operator: str, name: str, tensor: Any, shape: Any) -> None:
    """Refuses also what would broadcast to the shape."""
    check(list(tensor.shape) == list(shape), operator, name, tensor, f"shape {list(shape)}")


def check_floating(operator: str, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        check(tensor.is_floating_point() and tensor.element_size() <= 4, operator, name, tensor,
              "float32, bfloat16 or float16")


def check_device(operator: str, device: Any, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        if tensor.device != device:
            raise ValueError(f"{operator}: {name} is on {tensor.device}; expected {device}, as the "
                             "other arguments")


def _dense(tensor: Any) -> bool:
    """Returns whether the elements fill a range of memory, in any order of the dimensions."""
    wanted = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size != 1:
            if stride != wanted:
                return False
            wanted *= size
    return True


def _overlap(one: Any, other: Any) -> bool:
    """Returns whether two tensors have common memory; False if they lie in gaps of each other, or have none, as
    those of "meta"."""
    if not one.numel() or not other.numel() or "meta" in (one.device.type, other.device.type):
        return False
    first, second = sorted((one, other), key=lambda tensor: tensor.data_ptr())
    begin, next_begin = first.data_ptr(), second.data_ptr()
    return begin == next_begin or (_dense(first) and _dense(second) and
                                   begin + first.numel() * first.element_size() > next_begin)


def check_written(operator: str, written: dict[str, Any], read: dict[str, Any]) -> None:
    """Raises ValueError if a tensor that is written overlaps itself or another one. A call checks all
    of them before it writes one."""
    others = {**written, **read}
    for name, tensor in written.items():
        for size, stride in zip(tensor.shape, tensor.stride()):
            check(stride != 0 or size < 2, operator, name, tensor,
                  "elements with memory of their own, not those of expand()")
        for other_name in list(others)[list(others).index(name) + 1:]:
            check(not _overlap(tensor, others[other_name]), operator, name, tensor,
                  f"memory of its own; it overlaps {other_name}")
