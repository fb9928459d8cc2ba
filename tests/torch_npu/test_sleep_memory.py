# SPDX-License-Identifier: Apache-2.0
"""The memory of an engine that sleeps, as vllm-ascend's allocator uses it, without vLLM."""

import gc
import types

import pytest
import torch
import torch_npu  # noqa: F401

from advance_step import _native
from advance_step._vllm import sleep_memory

MIB = 1 << 20


class Camem:
    """Notes the handles, as vllm-ascend's allocator does."""

    def __init__(self):
        self.handles = {}
        self.module = types.SimpleNamespace()
        sleep_memory.add_to(self.module)
        self.camem = types.SimpleNamespace(get_pluggable_allocator=self.own, lib_name=None)
        sleep_memory.replace(self.camem)

    def own(self, allocated, released):
        """What vllm-ascend's own function does."""
        self.module.init_module(allocated, released)
        return torch.npu.memory.NPUPluggableAllocator(self.camem.lib_name, "my_malloc", "my_free")

    def allocated(self, handle):
        self.handles[handle[2]] = handle

    def empty(self, size):
        """Returns a tensor in a pool of this memory, and the pool."""
        made = self.camem.get_pluggable_allocator(self.allocated, self.handles.pop)
        pool = torch.npu.memory.MemPool(made._allocator)
        with torch.npu.memory.use_mem_pool(pool):
            return torch.empty(size, dtype=torch.int32, device="npu"), pool

    def counted(self, size):
        tensor, pool = self.empty(size)
        return torch.arange(size, dtype=torch.int32, device="npu", out=tensor), pool


def free():
    gc.collect()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    return torch.npu.mem_get_info()[0]


def test_memory_sleeps_and_wakes_up_at_its_address():
    camem, before = Camem(), free()
    tensor, pool = camem.counted(10 * MIB)  # 40 MiB
    (handle,) = camem.handles.values()
    device, size, address, _ = handle
    assert device == 0 and size >= 40 * MIB and size % (2 * MIB) == 0
    assert address <= tensor.data_ptr() < address + size
    assert free() == before - size
    kept = tensor.cpu()
    camem.module.python_unmap_and_release(*handle)
    assert free() == before
    camem.module.python_create_and_map(*handle)
    assert free() == before - size
    tensor.copy_(kept)
    assert torch.equal((tensor + 1).cpu(), kept + 1)
    del tensor, pool
    assert free() == before and camem.handles == {}


@pytest.mark.skipif(_native.loaded() is None, reason="there is no extension")
def test_vllm_ascends_own_function_makes_the_allocator():
    camem = Camem()
    assert camem.camem.get_pluggable_allocator == camem.own
    made = camem.camem.get_pluggable_allocator(camem.allocated, camem.handles.pop)
    assert isinstance(made, torch.npu.memory.NPUPluggableAllocator)


def test_memory_that_sleeps_can_be_freed():
    camem, before = Camem(), free()
    tensor, pool = camem.counted(MIB)
    (handle,) = camem.handles.values()
    camem.module.python_unmap_and_release(*handle)
    del tensor, pool
    assert free() == before and camem.handles == {}


def test_a_device_without_memory(capfd):
    camem, before = Camem(), free()
    with pytest.raises(torch.OutOfMemoryError):
        camem.empty(80 << 30)
    assert "aclrtMallocPhysical returns" in capfd.readouterr().err
    assert free() == before and camem.handles == {}
    tensor, _ = camem.counted(8)
    assert tensor.tolist() == list(range(8))


def test_waking_up_twice_is_refused():
    camem = Camem()
    tensor, _ = camem.counted(8)
    (handle,) = camem.handles.values()
    with pytest.raises(RuntimeError, match="aclrtMapMem returns 107000"):
        camem.module.python_create_and_map(*handle)
    assert tensor.tolist() == list(range(8))
