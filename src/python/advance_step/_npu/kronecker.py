# SPDX-License-Identifier: Apache-2.0
"""npu_kronecker_quant: rows that two small matrices transform, as int4."""

from __future__ import annotations

import importlib
from typing import Any

from .checks import check, check_floating, check_shape, refuse
from .quant import int4_by_scales
from .table import define
from .weights import PACKED

torch: Any = importlib.import_module("torch")

_LARGEST = 7.0
_INT32 = 3  # the number of its ScalarType


@define("npu_kronecker_quant")
def kronecker_quant(x: Any, kronecker_p1: Any, kronecker_p2: Any, clip_ratio: float | None = None,
                    dst_dtype: Any = None, dst_type_max: float | None = None) -> tuple[Any, Any]:
    """Returns y[i] = kronecker_p1 x[i] kronecker_p2 as packed int4, and the scale of each y[i]: its largest
    element is 7 / clip_ratio, and what is above 7 becomes 7."""
    name = "npu_kronecker_quant"
    refuse(name, dst_type_max=dst_type_max)
    check_floating(name, x=x, kronecker_p1=kronecker_p1, kronecker_p2=kronecker_p2)
    check(x.dim() == 3 and x.shape[2] % PACKED == 0, name, "x", x,
          f"3 dimensions, the last a multiple of {PACKED}, as eight int4 are an int32")
    check_shape(name, "kronecker_p1", kronecker_p1, [x.shape[1], x.shape[1]])
    check_shape(name, "kronecker_p2", kronecker_p2, [x.shape[2], x.shape[2]])
    ratio = 1.0 if clip_ratio is None else clip_ratio
    check(0 < ratio <= 1, name, "clip_ratio", clip_ratio, "a number above 0, up to 1")
    check(dst_dtype in (None, _INT32, torch.int32), name, "dst_dtype", dst_dtype, "torch.int32")
    wide = kronecker_p1.float() @ x.float() @ kronecker_p2.float()
    scales = wide.abs().amax((1, 2)) * (ratio / _LARGEST)
    return int4_by_scales(wide, scales.reshape(-1, 1, 1)), scales
