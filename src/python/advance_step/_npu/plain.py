# SPDX-License-Identifier: Apache-2.0
"""Operators of the namespace that are a line or two of torch's operations."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape
from .table import define

torch: Any = importlib.import_module("torch")


@define("npu_silu")
def silu(input: Any) -> Any:
    return torch.nn.functional.silu(input)


@define("npu_silu_")
def silu_in_place(input: Any) -> Any:
    return torch.ops.aten.silu_(input)


@define("npu_silu_backward")
def silu_backward(grad_output: Any, x0: Any, x1: Any) -> Any:
    """x0 is the input of the activation, x1 its result."""
    check_shape("npu_silu_backward", "grad_output", grad_output, x0.shape)
    return torch.ops.aten.silu_backward(grad_output, x0)


@define("npu_linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    return torch.nn.functional.linear(input, weight, bias)


@define("npu_linear_backward")
def linear_backward(grad: Any, input: Any, weight: Any) -> tuple[Any, Any]:
    """Returns the gradients of the input and of the weight."""
    check(grad.dim() > 0 and grad.shape[:-1] == input.shape[:-1], "npu_linear_backward", "grad", grad,
          f"the leading dimensions of the input, {list(input.shape)}")
    flat = grad.reshape(-1, grad.shape[-1])
    return grad @ weight, flat.t() @ input.reshape(-1, input.shape[-1])


def _with_narrow_indices(found: Any) -> tuple[Any, Any]:
    return found.values, found.indices.to(torch.int32)


@define("npu_max.dim")
def largest(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """Its indices are int32."""
    return _with_narrow_indices(torch.max(input, dim, keepdim))


@define("npu_min.dim")
def smallest(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """Its indices are int32."""
    return _with_narrow_indices(torch.min(input, dim, keepdim))


@define("npu_max_backward", "npu_min_backward")
def extremum_backward(grad: Any, dim: int, indices: Any, sizes: Any, keepdim: bool) -> Any:
    """The gradient of npu_max and of npu_min."""
    check_shape("npu_max_backward", "indices", indices, grad.shape)
    if not keepdim and len(sizes) > 0:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(list(sizes)).scatter(dim, indices.long(), grad)


@define("npu_slice")
def part(input: Any, offsets: Any, size: Any) -> Any:
    for name, numbers in (("offsets", offsets), ("size", size)):
        check(len(numbers) == input.dim(), "npu_slice", name, list(numbers),
              f"{input.dim()} numbers, one for each dimension of the input")
    for dim, (begin, count) in enumerate(zip(offsets, size)):
        whole = input.shape[dim]
        check(0 <= begin <= whole, "npu_slice", "offsets", list(offsets),
              f"0 <= offsets[{dim}] <= {whole}")
        check(-1 <= count <= whole - begin, "npu_slice", "size", list(size),
              f"at most {whole - begin} in dimension {dim}, or -1 for all that follow the offset")
        input = input.narrow(dim, begin, whole - begin if count == -1 else count)
    return input.clone(memory_format=torch.contiguous_format)


@define("npu_slice.out")
def part_into(input: Any, offsets: Any, size: Any, *, out: Any) -> Any:
    found = part(input, offsets, size)
    check_shape("npu_slice", "out", out, found.shape)
    return out.copy_(found)


@define("batch_norm_reduce")
def batch_norm_reduce(input: Any, eps: float) -> tuple[Any, Any]:
    """Returns the sums over all dimensions but the second, of the values and of their squares, in
    float32."""
    check_floating("batch_norm_reduce", input=input)
    check(input.dim() >= 2, "batch_norm_reduce", "input", input, "at least two dimensions")
    wide, dims = input.float(), [dim for dim in range(input.dim()) if dim != 1]
    return wide.sum(dims), wide.square().sum(dims)
