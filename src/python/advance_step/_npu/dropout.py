# SPDX-License-Identifier: Apache-2.0
"""_npu_dropout and its parts, whose masks have a bit for each element.

A mask is a tensor of uint8. Bit i % 8 of byte i / 8 is 1 if element i is kept, and the number of bits
is a multiple of 128. The bits are drawn from the generator of the device.
"""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating
from .table import define

torch: Any = importlib.import_module("torch")

_BITS = 8
_MULTIPLE = 128


def _mask(operator: str, count: int, p: float, device: Any, generator: Any = None) -> Any:
    """Returns the mask of so many elements."""
    check(0 <= p <= 1, operator, "p", p, "a probability, 0 <= p <= 1")
    bits = -(-count // _MULTIPLE) * _MULTIPLE
    kept = torch.empty(bits, dtype=torch.uint8, device=device).bernoulli_(1 - p, generator=generator)
    return (kept.reshape(-1, _BITS) << _places(device)).sum(1, dtype=torch.uint8)


def _places(device: Any) -> Any:
    return torch.arange(_BITS, dtype=torch.uint8, device=device)


def _apply(operator: str, input: Any, mask: Any, p: float) -> Any:
    """Returns the kept elements times 1 / (1 - p), and 0 for the others."""
    check_floating(operator, input=input)
    check(0 <= p <= 1, operator, "p", p, "a probability, 0 <= p <= 1")
    count = -(-input.numel() // _MULTIPLE) * _MULTIPLE // _BITS
    check(mask.dtype == torch.uint8 and mask.numel() == count, operator, "mask", mask,
          f"{count} elements of uint8, a bit for each element of the input")
    kept = mask.reshape(-1, 1).bitwise_right_shift(_places(mask.device)).bitwise_and(1)
    kept = kept.reshape(-1)[:input.numel()].reshape(input.shape)
    return input * kept.to(input.dtype) * (0 if p == 1 else 1 / (1 - p))


@define("_npu_dropout")
def dropout(input: Any, p: float) -> tuple[Any, Any]:
    mask = _mask("_npu_dropout", input.numel(), p, input.device)
    return _apply("_npu_dropout", input, mask, p), mask


@define("npu_dropout_do_mask")
def do_mask(input: Any, mask: Any, p: float) -> tuple[Any, Any]:
    return _apply("npu_dropout_do_mask", input, mask, p), mask


@define("npu_dropout_backward")
def backward(grad_output: Any, mask: Any, p: float) -> Any:
    return _apply("npu_dropout_backward", grad_output, mask, p)


def _count(size: Any) -> int:
    count = 1
    for each in size:
        count *= each
    return count


@define("_npu_dropout_gen_mask.Tensor")
def gen_mask_of_seed(input: Any, size: Any, p: float, seed: int, offset: int, *, parallel: Any = True,
                     sync: Any = None) -> Any:
    """The mask follows from the seed and the offset; the generator of the device is left as it is."""
    check(offset >= 0 and offset % 4 == 0, "_npu_dropout_gen_mask", "offset", offset,
          "a multiple of 4, at least 0")
    generator = torch.Generator(input.device)
    generator.manual_seed(seed)
    generator.set_offset(offset)
    return _mask("_npu_dropout_gen_mask", _count(size), p, input.device, generator)


@define("npu_dropout_gen_mask")
def gen_mask(size: Any, p: float, *, dtype: Any = None, layout: Any = None, device: Any = None,
             pin_memory: Any = None) -> Any:
    return _mask("npu_dropout_gen_mask", _count(size), p, torch.device(device or "npu"))
