# SPDX-License-Identifier: Apache-2.0
"""npu_format_cast and its forms: every format keeps the shape and the values of ND."""

from __future__ import annotations

from typing import Any

from .checks import refuse
from .formats import cast, cast_in_place, format_of
from .table import define


@define("npu_format_cast", "_npu_format_cast")
def format_cast(input: Any, acl_format: int, *, customize_dtype: Any = None,
                input_dtype: Any = None) -> Any:
    refuse("npu_format_cast", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return cast(input, acl_format)


@define("npu_format_cast.Tensor")
def format_cast_as(input: Any, dst: Any, *, customize_dtype: Any = None,
                   input_dtype: Any = None) -> Any:
    refuse("npu_format_cast", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return cast(input, format_of(dst))


@define("_npu_format_cast.aclnn", "_npu_format_cast.input_dtype")
def format_cast_of_type(input: Any, acl_format: int, customize_dtype: int,
                        input_dtype: Any = None) -> Any:
    refuse("npu_format_cast", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return cast(input, acl_format)


@define("npu_format_cast_.acl_format")
def format_cast_in_place(input: Any, acl_format: int, *, customize_dtype: Any = None,
                         input_dtype: Any = None) -> Any:
    refuse("npu_format_cast_", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return cast_in_place(input, acl_format)


@define("npu_format_cast_")
def format_cast_into(input: Any, src: Any, *, customize_dtype: Any = None,
                     input_dtype: Any = None) -> Any:
    refuse("npu_format_cast_", customize_dtype=customize_dtype, input_dtype=input_dtype)
    return input.copy_(src)
