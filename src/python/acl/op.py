# SPDX-License-Identifier: Apache-2.0
"""acl.op of pyACL: attributes of operators, and operators by name.

The latter are refused, because there is no operator compiler: the message names the operator. Operators of libopapi.so
are called by ctypes, in aclnn's two calls.
"""

from __future__ import annotations

import ctypes

from . import _binding

TABLE = """
set_model_dir(model_dir:s) = aclopSetModelDir
create_attr() -> p = aclopCreateAttr
destroy_attr(attr:p) -> none = aclopDestroyAttr
set_attr_int(attr:p, name:s, value:i64) = aclopSetAttrInt
set_attr_float(attr:p, name:s, value:f32) = aclopSetAttrFloat
set_attr_string(attr:p, name:s, value:s) = aclopSetAttrString
set_attr_data_type(attr:p, name:s, value:i32) = aclopSetAttrDataType
set_attr_list_int(attr:p, name:s, values:[i64]) = aclopSetAttrListInt
set_attr_list_float(attr:p, name:s, values:[f32]) = aclopSetAttrListFloat
"""
_binding.bind(globals(), TABLE)


def set_attr_bool(attr: int, name: str, value: bool) -> int:
    """Sets an attribute. Returns the code."""
    where = "acl.op.set_attr_bool"
    call = _binding.library("libascendcl.so").aclopSetAttrBool
    return call(ctypes.c_void_p(_binding.integer(where, "attr", attr, "p")), _binding.text(where, "name", name),
                ctypes.c_uint8(bool(value)))


def _handles(where: str, **lists):
    """The handles of several lists, each with its number behind the first of its pair."""
    return [_binding.array(where, name, values, "p") for name, values in lists.items()]


def execute_v2(op_type: str, input_desc, inputs, output_desc, outputs, attr: int, stream: int) -> int:
    """Refuses the operator. Returns the code."""
    where = "acl.op.execute_v2"
    arrays = _handles(where, input_desc=input_desc, inputs=inputs, output_desc=output_desc, outputs=outputs)
    call = _binding.library("libascendcl.so").aclopExecuteV2
    return call(_binding.text(where, "op_type", op_type), len(arrays[0]), arrays[0], arrays[1], len(arrays[2]),
                arrays[2], arrays[3], ctypes.c_void_p(_binding.integer(where, "attr", attr, "p")),
                ctypes.c_void_p(_binding.integer(where, "stream", stream, "p")))


def compile(op_type: str, input_desc, output_desc, attr: int, engine_type: int, compile_flag: int,
            op_path: str | None = None) -> int:
    """Refuses the operator. Returns the code."""
    where = "acl.op.compile"
    arrays = _handles(where, input_desc=input_desc, output_desc=output_desc)
    call = _binding.library("libacl_op_compiler.so").aclopCompile
    return call(_binding.text(where, "op_type", op_type), len(arrays[0]), arrays[0], len(arrays[1]), arrays[1],
                ctypes.c_void_p(_binding.integer(where, "attr", attr, "p")),
                ctypes.c_int(_binding.integer(where, "engine_type", engine_type, "i32")),
                ctypes.c_int(_binding.integer(where, "compile_flag", compile_flag, "i32")),
                _binding.text(where, "op_path", op_path))
