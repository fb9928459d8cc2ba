# SPDX-License-Identifier: Apache-2.0
"""acl.prof of pyACL: a profiler, which is accepted, records nothing and says so once in the log."""

from __future__ import annotations

import ctypes
import os

from . import _binding

TABLE = """
finalize() = aclprofFinalize
start(profiler_config:p) = aclprofStart
stop(profiler_config:p) = aclprofStop
destroy_config(profiler_config:p) = aclprofDestroyConfig
"""
_binding.bind(globals(), TABLE, "libmsprofiler.so")


def init(profiler_result_path: str) -> int:
    """Takes the folder of the results, in which nothing is written. Returns the code."""
    path = _binding.text("acl.prof.init", "profiler_result_path", profiler_result_path)
    call = _binding.library("libmsprofiler.so").aclprofInit
    return call(path, ctypes.c_size_t(len(os.fsencode(path or b""))))


def create_config(device_id_list, aicore_metrics: int, aicore_events: int, data_type_config: int) -> int:
    """Returns a configuration, or 0."""
    where = "acl.prof.create_config"
    devices = _binding.array(where, "device_id_list", device_id_list, "u32")
    call = _binding.library("libmsprofiler.so").aclprofCreateConfig
    call.restype = ctypes.c_void_p
    return call(devices, len(devices), ctypes.c_int32(_binding.integer(where, "aicore_metrics", aicore_metrics, "i32")),
                ctypes.c_void_p(_binding.integer(where, "aicore_events", aicore_events, "p")),
                ctypes.c_uint64(_binding.integer(where, "data_type_config", data_type_config, "u64"))) or 0
