# SPDX-License-Identifier: Apache-2.0
"""pyACL, the module acl of CANN, on the emulated device. docs/python.md describes it."""

from __future__ import annotations

import ctypes
import sys

from . import _binding
from ._constants import *  # noqa: F401,F403  (names of the public headers)

TABLE = """
finalize() = aclFinalize
get_version(>major:i32, >minor:i32, >patch:i32) = aclrtGetVersion
get_soc_name() -> s = aclrtGetSocName
get_recent_err_msg() -> s = aclGetRecentErrMsg
get_device_capability(device_id:u32, info_type:i32, >value:i64) = aclGetDeviceCapability
get_cann_attribute(attr:i32, >value:i32) = aclGetCannAttribute
data_type_size(data_type:i32) -> u64 = aclDataTypeSize
create_data_buffer(data:p, size:u64) -> p = aclCreateDataBuffer
destroy_data_buffer(data_buffer:p) = aclDestroyDataBuffer
update_data_buffer(data_buffer:p, data:p, size:u64) = aclUpdateDataBuffer
get_data_buffer_addr(data_buffer:p) -> p = aclGetDataBufferAddr
get_data_buffer_size(data_buffer:p) -> u32 = aclGetDataBufferSize
get_data_buffer_size_v2(data_buffer:p) -> u64 = aclGetDataBufferSizeV2
destroy_tensor_desc(desc:p) -> none = aclDestroyTensorDesc
get_tensor_desc_type(desc:p) -> i32 = aclGetTensorDescType
get_tensor_desc_format(desc:p) -> i32 = aclGetTensorDescFormat
get_tensor_desc_size(desc:p) -> u64 = aclGetTensorDescSize
get_tensor_desc_element_count(desc:p) -> u64 = aclGetTensorDescElementCount
get_tensor_desc_num_dims(desc:p) -> u64 = aclGetTensorDescNumDims
get_tensor_desc_dim(desc:p, index:u64) -> i64 = aclGetTensorDescDim
get_tensor_desc_dim_v2(desc:p, index:u64, >dim_size:i64) = aclGetTensorDescDimV2
set_tensor_desc_name(desc:p, name:s) -> none = aclSetTensorDescName
get_tensor_desc_name(desc:p) -> s = aclGetTensorDescName
set_tensor_format(desc:p, format:i32) = aclSetTensorFormat
set_tensor_origin_format(desc:p, format:i32) = aclSetTensorOriginFormat
set_tensor_shape(desc:p, dims:[i64]) = aclSetTensorShape
set_tensor_origin_shape(desc:p, dims:[i64]) = aclSetTensorOriginShape
set_tensor_place_ment(desc:p, mem_type:i32) = aclSetTensorPlaceMent
set_tensor_const(desc:p, data_buffer:p, length:u64) = aclSetTensorConst
set_tensor_dynamic_input(desc:p, name:s) = aclSetTensorDynamicInput
"""
_binding.bind(globals(), TABLE)
_C_TABLE = {"__name__": __name__}
_binding.bind(_C_TABLE, """
init(config_path:s) = aclInit
create_tensor_desc(data_type:i32, dims:[i64], format:i32) -> p = aclCreateTensorDesc
""")


def init(config_path: str | None = None) -> int:
    """Starts acl, with the file of its configuration if there is one. Returns the code."""
    return _C_TABLE["init"](config_path)


def create_tensor_desc(data_type: int, dims: list[int], format: int) -> int:
    """Returns a description of a tensor, or 0."""
    return _C_TABLE["create_tensor_desc"](data_type, dims, format)


def app_log(log_level: int, message: str) -> None:
    """Writes a line of the program to the log (ADVANCE_STEP_LOG), with the place of the call."""
    place = sys._getframe(1)
    write = _binding.library("libascendcl.so").aclAppLog
    write.restype = None
    write(ctypes.c_int(_binding.integer("acl.app_log", "log_level", log_level, "i32")),
          place.f_code.co_name.encode(errors="replace"), place.f_code.co_filename.encode(errors="replace"),
          ctypes.c_uint32(place.f_lineno), b"%s", str(message).encode(errors="replace"))


def float16_to_float(value: int) -> float:
    """Returns the number that the 16 bits of a half stand for."""
    convert = _binding.library("libascendcl.so").aclFloat16ToFloat
    convert.restype = ctypes.c_float
    return convert(ctypes.c_uint16(_half(value)))


def float_to_float16(value: float) -> int:
    """Returns the 16 bits of the half nearest to a number."""
    convert = _binding.library("libascendcl.so").aclFloatToFloat16
    convert.restype = ctypes.c_uint16
    return convert(ctypes.c_float(_binding.real("acl.float_to_float16", "value", value)))


def _half(value) -> int:
    number = _binding.integer("acl.float16_to_float", "value", value, "u32")
    if number > 0xFFFF:
        raise ValueError(f"acl.float16_to_float: value is {number}; expected 0 to {0xFFFF}")
    return number


# pyACL's parts for images, matrices and feature vectors, whose libraries the prefix does not have.
_ABSENT = ("media", "himpi", "blas", "fv", "tdt")


def __getattr__(name: str):
    if name in _ABSENT:
        raise AttributeError(f"module 'acl' has no attribute '{name}': the emulated device has no such "
                             "part; expected acl.rt, acl.util, acl.op, acl.mdl or acl.prof")
    raise AttributeError(f"module 'acl' has no attribute '{name}'")


from . import mdl, op, prof, rt, util  # noqa: E402,F401  (they are attributes, as in pyACL)
