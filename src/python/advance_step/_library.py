# SPDX-License-Identifier: Apache-2.0
"""Finds libadvance_step.so and binds its functions.

A function that may wait for work releases the interpreter lock (``CDLL``). A function that never
waits keeps it (``PyDLL``), which is cheaper.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p
from typing import Any

from ._errors import make_error

_NAMES = ("libadvance_step.so.0", "libadvance_step.so")


def _candidates() -> list[str]:
    """Returns the paths to try: the named file alone, or the package's folder with the prefix in it,
    and then the loader."""
    named = os.environ.get("ADVANCE_STEP_LIBRARY")
    if named:
        return [os.path.abspath(named)]
    package = pathlib.Path(__file__).resolve().parent
    beside = [str(folder / name) for folder in (package / "cann" / "lib64", package)
              for name in _NAMES if (folder / name).is_file()]
    return beside + list(_NAMES)


def _find() -> str:
    failures = []
    for candidate in _candidates():
        try:
            ctypes.CDLL(candidate)
        except OSError as failure:
            failures.append(str(failure))
        else:
            return candidate
    raise ImportError(
        "libadvance_step.so cannot be loaded: " + "; ".join(failures)
        + ". Set ADVANCE_STEP_LIBRARY to the file, or put it beside the package.")


PATH = _find()
_waiting = ctypes.CDLL(PATH)
_prompt = ctypes.PyDLL(PATH)


def _bind(library: Any, name: str, *argtypes: Any, restype: Any = c_int) -> Any:
    try:
        function = library[name]  # each look-up by item makes a new object with its own prototype
    except AttributeError:
        raise ImportError(f"{PATH} has no {name}: it is not the library of this package") from None
    function.argtypes = argtypes
    function.restype = restype
    return function


_out = POINTER(c_void_p)

recent_message = _bind(_prompt, "aclGetRecentErrMsg", restype=c_char_p)
last_error = _bind(_prompt, "aclrtGetLastError", c_int)  # returns and clears it
acl_init = _bind(_waiting, "aclInit", c_char_p)
finalize_reference = _bind(_waiting, "aclFinalizeReference", c_void_p)
soc_name = _bind(_prompt, "aclrtGetSocName", restype=c_char_p)

set_device = _bind(_waiting, "aclrtSetDevice", c_int32)
device_count = _bind(_prompt, "aclrtGetDeviceCount", POINTER(c_uint32))
synchronize_device = _bind(_waiting, "aclrtSynchronizeDevice")
get_context = _bind(_prompt, "aclrtGetCurrentContext", _out)
create_context = _bind(_waiting, "aclrtCreateContext", _out, c_int32)
destroy_context = _bind(_waiting, "aclrtDestroyContext", c_void_p)
set_context = _bind(_prompt, "aclrtSetCurrentContext", c_void_p)

malloc = _bind(_prompt, "aclrtMalloc", _out, c_size_t, c_int)
free = _bind(_prompt, "aclrtFree", c_void_p)
host_register = _bind(_prompt, "advstepRegisterHostArray", c_void_p, c_uint64)
pointer_attributes = _bind(_prompt, "aclrtPointerGetAttributes", c_void_p, c_void_p)
host_unregister = _bind(_waiting, "aclrtHostUnregister", c_void_p)

create_stream = _bind(_prompt, "aclrtCreateStreamWithConfig", _out, c_uint32, c_uint32)
destroy_stream = _bind(_waiting, "aclrtDestroyStream", c_void_p)
synchronize_stream = _bind(_waiting, "aclrtSynchronizeStream", c_void_p)
query_stream = _bind(_prompt, "aclrtStreamQuery", c_void_p, POINTER(c_int))
wait_event = _bind(_prompt, "aclrtStreamWaitEvent", c_void_p, c_void_p)

create_event = _bind(_prompt, "aclrtCreateEventExWithFlag", _out, c_uint32)
destroy_event = _bind(_prompt, "aclrtDestroyEvent", c_void_p)
record_event = _bind(_prompt, "aclrtRecordEvent", c_void_p, c_void_p)
synchronize_event = _bind(_waiting, "aclrtSynchronizeEvent", c_void_p)
query_event = _bind(_prompt, "aclrtQueryEventStatus", c_void_p, POINTER(c_int))
elapsed_time = _bind(_prompt, "aclrtEventElapsedTime", POINTER(c_float), c_void_p, c_void_p)

_dims = POINTER(c_int64)
create_tensor = _bind(_prompt, "aclCreateTensor", _dims, c_uint64, c_int, _dims, c_int64, c_int,
                      _dims, c_uint64, c_void_p, restype=c_void_p)
destroy_tensor = _bind(_prompt, "aclDestroyTensor", c_void_p)
set_repeatable = _bind(_prompt, "aclSetAclOpExecutorRepeatable", c_void_p)
destroy_executor = _bind(_prompt, "aclDestroyAclOpExecutor", c_void_p)


def bind_operator(name: str, tensors: int, attributes: int) -> tuple[Any, Any]:
    """Returns the two calls of an operator: aclnn<name>GetWorkspaceSize and aclnn<name>. The second
    has no prototype, which saves a tenth of a microsecond, and so takes ctypes objects only."""
    plan = _bind(_prompt, f"aclnn{name}GetWorkspaceSize", *[c_void_p] * tensors,
                 *[c_int64] * attributes, POINTER(c_uint64), _out)
    return plan, _prompt[f"aclnn{name}"]


finish = _waiting["aclrtSynchronizeStream"]  # the same for a c_void_p


def check(code: int, call: str) -> None:
    """Raises the exception for a code that is not 0, with the library's message."""
    if code:
        text = recent_message()
        message = text.decode("utf-8", "replace") if text else f"{call}: failed with code {code}"
        raise make_error(code, message)
