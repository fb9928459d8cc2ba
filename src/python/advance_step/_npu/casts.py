# SPDX-License-Identifier: Apache-2.0
"""npu_format_cast and its forms: every format keeps the shape and the values of ND."""

from __future__ import annotations

from typing import Any

from .checks import refuse
from .table import define


@define("npu_format_cast", "npu_format_cast.Tensor", "npu_format_cast_.acl_format", "_npu_format_cast")
def format_cast(input: Any, acl_format: Any, *, customize_dtype: Any = None,
                input_dtype: Any = None) -> Any:
    refuse("npu_format_cast", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return input


@define("_npu_format_cast.aclnn", "_npu_format_cast.input_dtype")
def format_cast_of_type(input: Any, acl_format: int, customize_dtype: int,
                        input_dtype: Any = None) -> Any:
    refuse("npu_format_cast", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return input


@define("npu_format_cast_")
def format_cast_into(input: Any, src: Any, *, customize_dtype: Any = None,
                     input_dtype: Any = None) -> Any:
    refuse("npu_format_cast_", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return input.copy_(src)
