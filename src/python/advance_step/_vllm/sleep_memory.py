# SPDX-License-Identifier: Apache-2.0
"""Memory of an engine that sleeps: what vllm-ascend's compiled module has for its sleep mode.

Tensors of such an engine lie in reserved addresses with physical memory behind them. While it sleeps, the
addresses stay and the memory is the device's again. vllm-ascend decides what is kept; it is told of each
allocation by a handle: (device, bytes, address, address), the tuple that its own module gives.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import traceback
from collections.abc import Callable
from typing import Any

Handle = tuple[int, int, int, int]

_GRANULARITY = 2 << 20
_HUGE = 4  # ACL_HBM_MEM_HUGE
_ON_DEVICE = 1  # ACL_MEM_LOCATION_TYPE_DEVICE


class _Properties(ctypes.Structure):
    """aclrtPhysicalMemProp."""

    _fields_ = [("handle_type", ctypes.c_int), ("allocation_type", ctypes.c_int), ("attribute", ctypes.c_int),
                ("id", ctypes.c_uint32), ("place", ctypes.c_int), ("reserve", ctypes.c_uint64)]


def _call(name: str, *arguments: Any) -> None:
    """Calls a function of the runtime. RuntimeError: it has failed."""
    runtime = ctypes.CDLL("libascendcl.so")
    code = getattr(runtime, name)(*arguments)
    if code:
        message = runtime.aclGetRecentErrMsg
        message.restype = ctypes.c_char_p
        raise RuntimeError(f"{name} returns {code}: {(message() or b'').decode('utf-8', 'replace')}")


class Memory:
    """The allocations, and vllm-ascend's functions that are told of them.

    The interpreter's lock protects both: torch_npu calls `allocate` and `release` through ctypes, which
    takes it. An allocation owns its addresses, and its physical memory while that is mapped.
    """

    def __init__(self) -> None:
        self._physical: dict[int, int] = {}  # by address
        self._allocated: Callable[[Handle], None] | None = None
        self._released: Callable[[int], Handle] | None = None
        # torch_npu keeps both addresses, so the objects last as long as this one.
        self.allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)(
            self._allocate)
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                        ctypes.c_void_p)(self._release)

    def init_module(self, allocated: Callable[[Handle], None], released: Callable[[int], Handle]) -> None:
        """Sets what is called with the handle of a new allocation, and what returns that of an address
        that is to be released."""
        self._allocated, self._released = allocated, released

    def create_and_map(self, device: int, size: int, address: int, _: int) -> None:
        """Gives the addresses memory, whose values are undefined."""
        properties = _Properties(attribute=_HUGE, id=device, place=_ON_DEVICE)
        memory = ctypes.c_void_p()
        _call("aclrtMallocPhysical", ctypes.byref(memory), ctypes.c_size_t(size), ctypes.byref(properties),
              ctypes.c_uint64(0))
        try:
            _call("aclrtMapMem", ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_size_t(0), memory,
                  ctypes.c_uint64(0))
        except RuntimeError:
            _call("aclrtFreePhysical", memory)
            raise
        self._physical[address] = memory.value or 0

    def unmap_and_release(self, _device: int, _size: int, address: int, _: int) -> None:
        """Gives the memory back to the device. The addresses stay reserved."""
        memory = self._physical.pop(address, None)
        if memory is not None:  # else it sleeps already
            _call("aclrtUnmapMem", ctypes.c_void_p(address))
            _call("aclrtFreePhysical", ctypes.c_void_p(memory))

    def _allocate(self, size: int, device: int, _stream: int | None) -> int:
        """Returns the address, or 0, which torch_npu takes for a device without memory."""
        whole = -(-size // _GRANULARITY) * _GRANULARITY
        place = ctypes.c_void_p()
        try:
            if self._allocated is None:
                raise RuntimeError("init_module has not been called; expected a call before allocations")
            _call("aclrtReserveMemAddress", ctypes.byref(place), ctypes.c_size_t(whole), ctypes.c_size_t(0),
                  None, ctypes.c_uint64(1))
            address = place.value or 0
            self.create_and_map(device, whole, address, address)
            self._allocated((device, whole, address, address))
            return address
        except Exception:  # C has no way for it
            traceback.print_exc(file=sys.stderr)
            self._give_up(place)
            return 0

    def _give_up(self, place: ctypes.c_void_p) -> None:
        if place.value:
            self.unmap_and_release(0, 0, place.value, 0)
            _call("aclrtReleaseMemAddress", place)

    def _release(self, address: int, _size: int, _device: int, _stream: int | None) -> None:
        try:
            if self._released is not None:
                self.unmap_and_release(*self._released(address))
            _call("aclrtReleaseMemAddress", ctypes.c_void_p(address))
        except Exception:  # C has no way for it
            traceback.print_exc(file=sys.stderr)


_memories: list[Memory] = []  # one, once the compiled module is imported


def add_to(module: Any) -> None:
    """Adds the functions of sleep mode to vllm-ascend's compiled module."""
    if not _memories:
        _memories.append(Memory())
    memory = _memories[0]
    module.init_module = memory.init_module
    module.python_create_and_map = memory.create_and_map
    module.python_unmap_and_release = memory.unmap_and_release


def allocator(allocated: Callable[[Handle], None], released: Callable[[int], Handle]) -> Any:
    """Returns torch_npu's allocator by these functions. It takes the place of
    camem.get_pluggable_allocator where no extension has the C functions that this one looks for."""
    torch_npu: Any = importlib.import_module("torch_npu")
    memory = _memories[0]
    memory.init_module(allocated, released)
    plain = torch_npu.npu.memory.NPUPluggableAllocator
    made = plain.__new__(plain)
    made._allocator = torch_npu._C._npu_customAllocator(
        *(ctypes.cast(function, ctypes.c_void_p).value for function in (memory.allocate, memory.release)))
    return made


def replace(module: Any) -> None:
    """Makes vllm_ascend.device_allocator.camem use this memory: its own function finds the C functions in
    the extension, as it would in the compiled module."""
    from .. import _native

    if not _memories:
        return
    extension = _native.loaded()
    if extension is None:
        module.get_pluggable_allocator = allocator
        return
    memory = _memories[0]
    extension.advstep_torch_bind_memory(*(ctypes.cast(function, ctypes.c_void_p)
                                          for function in (memory.allocate, memory.release)))
    module.lib_name = extension._name
