# SPDX-License-Identifier: Apache-2.0
"""Signs in bits: eight in a byte, the first in its lowest bit; 1 for a number from 0 on."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating
from .dtypes import dtype_of
from .table import define

torch: Any = importlib.import_module("torch")

_BITS = 8
_FLOATING = (torch.float32, torch.float16)


def _shifts(device: Any) -> Any:
    return torch.arange(_BITS, device=device, dtype=torch.int32)


@define("_C_ascend::npu_sign_bits_pack", "npu_sign_bits_pack")
def sign_bits_pack(input: Any, size: int) -> Any:
    """Returns [size, bytes]. Bits behind the last number are 0."""
    name = "npu_sign_bits_pack"
    check_floating(name, input=input)
    check(input.dim() == 1, name, "input", input, "1 dimension")
    count = -(-input.shape[0] // _BITS)
    check(size > 0 and count % size == 0, name, "size", size, f"a divisor of {count}, the bytes of the result")
    bits = torch.nn.functional.pad((input >= 0).to(torch.int32), (0, count * _BITS - input.shape[0]))
    packed = (bits.view(count, _BITS) << _shifts(input.device)).sum(-1)
    return packed.to(torch.uint8).view(size, -1)


@define("npu_sign_bits_unpack")
def sign_bits_unpack(input: Any, size: int, dtype: Any) -> Any:
    """Returns 1 or -1 for each bit, as [size, numbers]."""
    name = "npu_sign_bits_unpack"
    check(input.dtype == torch.uint8 and input.dim() == 1, name, "input", input, "1 dimension of uint8")
    count = input.shape[0] * _BITS
    check(size > 0 and count % size == 0, name, "size", size, f"a divisor of {count}, the numbers of the result")
    wanted = dtype_of(name, dtype, None)
    check(wanted in _FLOATING, name, "dtype", dtype, "torch.float32 or torch.float16")
    bits = input.to(torch.int32).unsqueeze(-1) >> _shifts(input.device) & 1
    return (bits * 2 - 1).to(wanted).view(size, -1)
