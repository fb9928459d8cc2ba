# SPDX-License-Identifier: Apache-2.0
"""acl.util of pyACL: addresses of arrays and bytes, and threads.

Memory stays its owner's: an address is valid as long as the object that it is of.
"""

from __future__ import annotations

import ctypes
import threading

from . import _binding


def _numpy(where: str):
    try:
        import numpy
    except ImportError:
        raise ImportError(f"{where}: numpy is not installed; expected numpy for its arrays") from None
    return numpy


def numpy_to_ptr(array) -> int:
    """Returns the address of an array's first element. The elements must lie in a row."""
    where = "acl.util.numpy_to_ptr"
    numpy = _numpy(where)
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{where}: array is {type(array).__name__}; expected a numpy.ndarray")
    if not array.flags.c_contiguous:
        raise ValueError(f"{where}: array has strides {array.strides}; expected a contiguous array, as "
                         "numpy.ascontiguousarray makes one")
    return array.ctypes.data


numpy_contiguous_to_ptr = numpy_to_ptr


def _data_type(where: str, numpy, data_type):
    """A data type of numpy, by its number or as numpy has it."""
    if isinstance(data_type, int) and not isinstance(data_type, bool):
        for code in "?bBhHiIlLqQefdgFDG":
            if numpy.dtype(code).num == data_type:
                return numpy.dtype(code)
        raise ValueError(f"{where}: data_type is {data_type}; expected a number of numpy, as numpy.dtype(...).num")
    return numpy.dtype(data_type)


def ptr_to_numpy(ptr: int, shape, data_type):
    """Returns an array over memory of the host, which it does not own. data_type is a number of numpy, such as 11
    for float32, or what numpy.dtype takes."""
    where = "acl.util.ptr_to_numpy"
    numpy = _numpy(where)
    address = _binding.integer(where, "ptr", ptr, "p")
    if address == 0:
        raise ValueError(f"{where}: ptr is 0; expected an address of the host")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for index, size in enumerate(shape):
        if _binding.integer(where, f"shape[{index}]", size, "i64") < 0:
            raise ValueError(f"{where}: shape[{index}] is {size}; expected at least 0")
    kind = _data_type(where, numpy, data_type)
    count = 1
    for size in shape:
        count *= size
    memory = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype=kind, count=count).reshape(shape) if count else numpy.empty(shape, kind)


def bytes_to_ptr(data) -> int:
    """Returns the address of the first byte of bytes or of a bytearray."""
    where = "acl.util.bytes_to_ptr"
    if isinstance(data, bytes):
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
    if isinstance(data, bytearray):
        return ctypes.addressof((ctypes.c_uint8 * len(data)).from_buffer(data))
    raise TypeError(f"{where}: data is {type(data).__name__}; expected bytes or a bytearray")


def ptr_to_bytes(ptr: int, size: int) -> bytes:
    """Returns a copy of the bytes at an address of the host."""
    where = "acl.util.ptr_to_bytes"
    address = _binding.integer(where, "ptr", ptr, "p")
    size = _binding.integer(where, "size", size, "u64")
    if address == 0 and size > 0:
        raise ValueError(f"{where}: ptr is 0; expected an address of the host")
    return ctypes.string_at(address, size)


# The threads that run, by their numbers.
_threads: dict[int, threading.Thread] = {}


def start_thread(function, arguments) -> tuple[int, int]:
    """Starts a thread that calls function(arguments). Returns its number, which acl.rt.subscribe_report takes, and 0."""
    if not callable(function):
        raise TypeError(f"acl.util.start_thread: function is {function!r}; expected a function")
    thread = threading.Thread(target=function, args=(arguments,), daemon=True)
    thread.start()
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thread_id: int) -> int:
    """Waits for the end of a thread of start_thread. Returns 0, or 100000 for an unknown number."""
    thread = _threads.pop(_binding.integer("acl.util.stop_thread", "thread_id", thread_id, "u64"), None)
    if thread is None:
        return 100000
    thread.join()
    return 0
