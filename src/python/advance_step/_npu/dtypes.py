# SPDX-License-Identifier: Apache-2.0
"""Types of results, which operators get as torch's types or as the numbers of their ScalarType."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check

torch: Any = importlib.import_module("torch")

_NUMBERS = {1: torch.int8, 3: torch.int32, 5: torch.float16, 6: torch.float32, 15: torch.bfloat16}


def dtype_of(operator: str, given: Any, default: Any) -> Any:
    """Returns the type that is given, or the default."""
    if given is None:
        return default
    if isinstance(given, torch.dtype):
        return given
    check(given in _NUMBERS, operator, "output_dtype", given,
          "the number of int8 (1), int32 (3), float16 (5), float32 (6) or bfloat16 (15)")
    return _NUMBERS[given]
