# SPDX-License-Identifier: Apache-2.0
"""acl.rt of pyACL: devices, contexts, streams, events, memory, copies, and launches."""

from __future__ import annotations

import ctypes
import itertools
import sys
import traceback

from . import _binding

TABLE = """
set_device(device_id:i32) = aclrtSetDevice
reset_device(device_id:i32) = aclrtResetDevice
reset_device_force(device_id:i32) = aclrtResetDeviceForce
get_device(>device_id:i32) = aclrtGetDevice
get_device_count(>count:u32) = aclrtGetDeviceCount
get_run_mode(>mode:i32) = aclrtGetRunMode
synchronize_device() = aclrtSynchronizeDevice
synchronize_device_with_timeout(timeout:i32) = aclrtSynchronizeDeviceWithTimeout
query_device_status(device_id:i32, >status:i32) = aclrtQueryDeviceStatus
get_device_info(device_id:u32, attr:i32, >value:i64) = aclrtGetDeviceInfo
device_can_access_peer(>can_access_peer:i32, device_id:i32, peer_device_id:i32) = aclrtDeviceCanAccessPeer
device_enable_peer_access(peer_device_id:i32, flags:u32) = aclrtDeviceEnablePeerAccess
device_disable_peer_access(peer_device_id:i32) = aclrtDeviceDisablePeerAccess
device_get_stream_priority_range(>least:i32, >greatest:i32) = aclrtDeviceGetStreamPriorityRange
get_last_error(level:i32) = aclrtGetLastError
peek_at_last_error(level:i32) = aclrtPeekAtLastError
create_context(>context:p, device_id:i32) = aclrtCreateContext
destroy_context(context:p) = aclrtDestroyContext
set_context(context:p) = aclrtSetCurrentContext
get_context(>context:p) = aclrtGetCurrentContext
ctx_get_current_default_stream(>stream:p) = aclrtCtxGetCurrentDefaultStream
create_stream(>stream:p) = aclrtCreateStream
create_stream_with_config(>stream:p, priority:u32, flag:u32) = aclrtCreateStreamWithConfig
destroy_stream(stream:p) = aclrtDestroyStream
destroy_stream_force(stream:p) = aclrtDestroyStreamForce
synchronize_stream(stream:p) = aclrtSynchronizeStream
synchronize_stream_with_timeout(stream:p, timeout:i32) = aclrtSynchronizeStreamWithTimeout
stream_query(stream:p, >status:i32) = aclrtStreamQuery
stream_abort(stream:p) = aclrtStreamAbort
stream_wait_event(stream:p, event:p) = aclrtStreamWaitEvent
stream_get_id(stream:p, >stream_id:i32) = aclrtStreamGetId
get_stream_available_num(>stream_count:u32) = aclrtGetStreamAvailableNum
set_stream_failure_mode(stream:p, mode:u64) = aclrtSetStreamFailureMode
set_stream_overflow_switch(stream:p, flag:u32) = aclrtSetStreamOverflowSwitch
get_stream_overflow_switch(stream:p, >flag:u32) = aclrtGetStreamOverflowSwitch
set_device_sat_mode(mode:i32) = aclrtSetDeviceSatMode
get_device_sat_mode(>mode:i32) = aclrtGetDeviceSatMode
set_op_wait_timeout(timeout:u32) = aclrtSetOpWaitTimeout
set_op_execute_time_out(timeout:u32) = aclrtSetOpExecuteTimeOut
create_event(>event:p) = aclrtCreateEvent
create_event_with_flag(>event:p, flag:u32) = aclrtCreateEventWithFlag
create_event_ex_with_flag(>event:p, flag:u32) = aclrtCreateEventExWithFlag
destroy_event(event:p) = aclrtDestroyEvent
record_event(event:p, stream:p) = aclrtRecordEvent
reset_event(event:p, stream:p) = aclrtResetEvent
query_event(event:p, >status:i32) = aclrtQueryEvent
query_event_status(event:p, >status:i32) = aclrtQueryEventStatus
query_event_wait_status(event:p, >status:i32) = aclrtQueryEventWaitStatus
synchronize_event(event:p) = aclrtSynchronizeEvent
synchronize_event_with_timeout(event:p, timeout:i32) = aclrtSynchronizeEventWithTimeout
event_elapsed_time(>ms:f32, start_event:p, end_event:p) = aclrtEventElapsedTime
event_get_timestamp(event:p, >timestamp:u64) = aclrtEventGetTimestamp
get_event_id(event:p, >event_id:u32) = aclrtGetEventId
create_notify(>notify:p, flag:u64) = aclrtCreateNotify
destroy_notify(notify:p) = aclrtDestroyNotify
record_notify(notify:p, stream:p) = aclrtRecordNotify
wait_and_reset_notify(notify:p, stream:p, timeout:u32) = aclrtWaitAndResetNotify
malloc(>ptr:p, size:u64, policy:i32) = aclrtMalloc
malloc_align32(>ptr:p, size:u64, policy:i32) = aclrtMallocAlign32
malloc_cached(>ptr:p, size:u64, policy:i32) = aclrtMallocCached
free(ptr:p) = aclrtFree
malloc_host(>ptr:p, size:u64) = aclrtMallocHost
free_host(ptr:p) = aclrtFreeHost
mem_flush(ptr:p, size:u64) = aclrtMemFlush
mem_invalidate(ptr:p, size:u64) = aclrtMemInvalidate
get_mem_info(attr:i32, >free:u64, >total:u64) = aclrtGetMemInfo
host_register(ptr:p, size:u64, type:i32, >device_ptr:p) = aclrtHostRegister
host_unregister(ptr:p) = aclrtHostUnregister
reserve_mem_address(>ptr:p, size:u64, alignment:u64, expect_ptr:p, flags:u64) = aclrtReserveMemAddress
release_mem_address(ptr:p) = aclrtReleaseMemAddress
map_mem(ptr:p, size:u64, offset:u64, handle:p, flags:u64) = aclrtMapMem
unmap_mem(ptr:p) = aclrtUnmapMem
free_physical(handle:p) = aclrtFreePhysical
memset(ptr:p, max_count:u64, value:i32, count:u64) = aclrtMemset
memset_async(ptr:p, max_count:u64, value:i32, count:u64, stream:p) = aclrtMemsetAsync
memcpy(dst:p, dest_max:u64, src:p, count:u64, kind:i32) = aclrtMemcpy
memcpy_async(dst:p, dest_max:u64, src:p, count:u64, kind:i32, stream:p) = aclrtMemcpyAsync
memcpy_2d(dst:p, dpitch:u64, src:p, spitch:u64, width:u64, height:u64, kind:i32) = aclrtMemcpy2d
memcpy_2d_async(dst:p, dpitch:u64, src:p, spitch:u64, width:u64, height:u64, kind:i32, stream:p) = aclrtMemcpy2dAsync
subscribe_report(thread_id:u64, stream:p) = aclrtSubscribeReport
unsubscribe_report(thread_id:u64, stream:p) = aclrtUnSubscribeReport
process_report(timeout:i32) = aclrtProcessReport
get_task_id_from_exception_info(info:p) -> u32 = aclrtGetTaskIdFromExceptionInfo
get_stream_id_from_exception_info(info:p) -> u32 = aclrtGetStreamIdFromExceptionInfo
get_thread_id_from_exception_info(info:p) -> u32 = aclrtGetThreadIdFromExceptionInfo
get_device_id_from_exception_info(info:p) -> u32 = aclrtGetDeviceIdFromExceptionInfo
get_error_code_from_exception_info(info:p) -> u32 = aclrtGetErrorCodeFromExceptionInfo
create_binary(data:p, data_len:u64) -> p = aclrtCreateBinary
destroy_binary(binary:p) = aclrtDestroyBinary
binary_load(binary:p, >bin_handle:p) = aclrtBinaryLoad
binary_load_from_file(bin_path:s, options:p=0, >bin_handle:p) = aclrtBinaryLoadFromFile
binary_load_from_data(data:p, length:u64, options:p=0, >bin_handle:p) = aclrtBinaryLoadFromData
binary_unload(bin_handle:p) = aclrtBinaryUnLoad
binary_get_function(bin_handle:p, kernel_name:s, >func_handle:p) = aclrtBinaryGetFunction
binary_get_function_by_entry(bin_handle:p, func_entry:u64, >func_handle:p) = aclrtBinaryGetFunctionByEntry
register_cpu_func(bin_handle:p, func_name:s, kernel_name:s, >func_handle:p) = aclrtRegisterCpuFunc
kernel_args_init(func_handle:p, >args_handle:p) = aclrtKernelArgsInit
kernel_args_append(args_handle:p, param:p, param_size:u64, >param_handle:p) = aclrtKernelArgsAppend
kernel_args_append_place_holder(args_handle:p, >param_handle:p) = aclrtKernelArgsAppendPlaceHolder
kernel_args_get_place_holder_buffer(args_handle:p, param_handle:p, data_size:u64, >buffer:p) = aclrtKernelArgsGetPlaceHolderBuffer
kernel_args_para_update(args_handle:p, param_handle:p, param:p, param_size:u64) = aclrtKernelArgsParaUpdate
kernel_args_finalize(args_handle:p) = aclrtKernelArgsFinalize
launch_kernel(func_handle:p, block_dim:u32, args:p, args_size:u64, stream:p) = aclrtLaunchKernel
launch_kernel_with_config(func_handle:p, block_dim:u32, stream:p, cfg:p, args_handle:p, reserve:p=0) = aclrtLaunchKernelWithConfig
"""
_binding.bind(globals(), TABLE)


class _Utilization(ctypes.Structure):
    _fields_ = [("cube_utilization", ctypes.c_int32), ("vector_utilization", ctypes.c_int32),
                ("aicpu_utilization", ctypes.c_int32), ("memory_utilization", ctypes.c_int32),
                ("utilization_extend", ctypes.c_void_p)]


def get_device_utilization_rate(device_id: int) -> tuple[dict[str, int], int]:
    """Returns the shares in which parts of a device were busy, in percent, and the code."""
    rates = _Utilization()
    call = _binding.library("libascendcl.so").aclrtGetDeviceUtilizationRate
    device = _binding.integer("acl.rt.get_device_utilization_rate", "device_id", device_id, "i32")
    code = call(ctypes.c_int32(device), ctypes.byref(rates))
    return {name: getattr(rates, name) for name, _ in _Utilization._fields_[:4]}, code


# C calls one of these two functions, which never end, with the number of a function of Python as its argument. A
# callback runs once; its entry goes when it begins, or when the launch fails. dict is safe with several threads.
_callbacks: dict[int, tuple] = {}
_numbers = itertools.count(1)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _run(number):
    function, user_data = _callbacks.pop(number)
    try:
        function(user_data)
    except BaseException:  # C has no way for an exception
        traceback.print_exc(file=sys.stderr)


def launch_callback(function, user_data, block_type: int, stream: int) -> int:
    """Queues a call of function(user_data), which a thread in process_report makes. Returns the code."""
    where = "acl.rt.launch_callback"
    if not callable(function):
        raise TypeError(f"{where}: function is {function!r}; expected a function")
    passed = (ctypes.c_int(_binding.integer(where, "block_type", block_type, "i32")),
              ctypes.c_void_p(_binding.integer(where, "stream", stream, "p")))
    number = next(_numbers)
    _callbacks[number] = (function, user_data)
    code = _binding.library("libascendcl.so").aclrtLaunchCallback(_run, ctypes.c_void_p(number), *passed)
    if code != 0:
        _callbacks.pop(number, None)
    return code


_exception_callback = None


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _report(info):
    function = _exception_callback
    try:
        if function is not None:
            function(info or 0)
    except BaseException:
        traceback.print_exc(file=sys.stderr)


def set_exception_info_callback(function) -> int:
    """Lets function(info) be called for each task that fails; None ends that. Returns the code."""
    global _exception_callback
    if function is not None and not callable(function):
        raise TypeError(f"acl.rt.set_exception_info_callback: function is {function!r}; expected a function")
    given = ctypes.cast(_report, ctypes.c_void_p) if function is not None else ctypes.c_void_p()
    before, _exception_callback = _exception_callback, function  # a task may fail at once
    code = _binding.library("libascendcl.so").aclrtSetExceptionInfoCallback(given)
    if code != 0:
        _exception_callback = before
    return code
