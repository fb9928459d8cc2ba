# SPDX-License-Identifier: Apache-2.0
"""torch_npu's caching allocator on emulated device memory."""

import gc
import os

import pytest
import torch
import torch_npu  # noqa: F401
from decode import Decode

MIB = 1 << 20


@pytest.fixture(autouse=True)
def nothing_cached():
    gc.collect()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    yield
    torch.npu.empty_cache()


def test_statistics():
    before = torch.npu.memory_allocated()
    torch.npu.reset_peak_memory_stats()
    block = torch.empty(100 * MIB, dtype=torch.uint8, device="npu")
    assert 100 * MIB <= torch.npu.memory_allocated() - before < 103 * MIB
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    free, total = torch.npu.mem_get_info()
    assert total - free >= 100 * MIB
    del block
    assert torch.npu.memory_allocated() == before
    assert torch.npu.max_memory_allocated() >= before + 100 * MIB
    torch.npu.empty_cache()
    assert torch.npu.mem_get_info()[0] >= free + 100 * MIB
    statistics = torch.npu.memory_stats()
    assert statistics["num_ooms"] >= 0 and statistics["allocated_bytes.all.peak"] > 0
    assert "allocated memory" in torch.npu.memory_summary().lower()


def test_snapshot():
    block = torch.empty(3 * MIB, dtype=torch.uint8, device="npu")
    segments = torch.npu.memory_snapshot()
    address = block.data_ptr()
    assert any(segment["address"] <= address < segment["address"] + segment["total_size"]
               for segment in segments)


def test_out_of_memory_and_after():
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 80.00 GiB") as error:
        torch.empty(80 << 30, dtype=torch.uint8, device="npu")
    assert str(error.value).splitlines()[-1].startswith("The memory of an emulated device is the host's, which has ")
    assert str(error.value).endswith("is " + os.environ["ADVANCE_STEP_MEMORY"])
    decode = Decode.steady(1)
    decode.launch()
    decode.check()


def test_memory_fraction():
    torch.npu.set_per_process_memory_fraction(0.25)
    try:
        with pytest.raises(torch.OutOfMemoryError, match="16.00 GiB allowed"):
            torch.empty(20 << 30, dtype=torch.uint8, device="npu")
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
    assert torch.empty(20 << 30, dtype=torch.uint8, device="npu").numel() == 20 << 30


USE = """
import torch, torch_npu
from decode import Decode
big = torch.empty(20 << 30, dtype=torch.uint8, device="npu")  # most of it is never touched
del big
blocks = []
for round in range(30):
    blocks.append(torch.arange(50000 + 9000 * round).npu())
    if round % 3 == 0:
        del blocks[round // 3]
    if round % 7 == 0:
        torch.npu.empty_cache()
for block in blocks:
    assert torch.equal(block.cpu(), torch.arange(len(block)))
decode = Decode.steady(1)
decode.check_replays()
free, total = torch.npu.mem_get_info()
try:
    torch.empty(total + 1, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError:
    print("right", torch.npu.memory_allocated() > 0)
"""


@pytest.mark.parametrize("configuration", (
    "expandable_segments:True", "max_split_size_mb:64", "garbage_collection_threshold:0.6",
    "expandable_segments:True,segment_size_mb:128"))
def test_configurations(program, configuration):
    done = program.forked(USE, PYTORCH_NPU_ALLOC_CONF=configuration)
    assert done.stdout == "right True\n"


PLUGGABLE = """
import ctypes, sys, torch, torch_npu
path = sys.argv[1]
allocator = torch.npu.memory.NPUPluggableAllocator(path, "take", "give")
torch.npu.memory.change_current_allocator(allocator)
tensor = torch.arange(1000).npu()
assert tensor.cpu().tolist() == list(range(1000))
library = ctypes.CDLL(path)
print(library.taken(), library.given())
del tensor
torch.npu.synchronize()
print(library.given())
"""
SOURCE = """
#include <stddef.h>
int aclrtMalloc(void** pointer, size_t size, int policy);
int aclrtFree(void* pointer);
static int takes, gives;
void* take(size_t size, int device, void* stream) {
    void* pointer = 0;
    ++takes;
    return aclrtMalloc(&pointer, size, 0) == 0 ? pointer : 0;
}
void give(void* pointer, size_t size, int device, void* stream) { ++gives; aclrtFree(pointer); }
int taken(void) { return takes; }
int given(void) { return gives; }
"""


def test_pluggable_allocator(program, tmp_path):
    """A user's own allocator, linked against the prefix as its page says."""
    import os
    import subprocess

    (tmp_path / "own.c").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["gcc", "-shared", "-fPIC", "own.c", "-o", "libown.so",
                    "-L", os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64"), "-lascendcl"],
                   cwd=tmp_path, check=True)
    taken, given, after = program.code(PLUGGABLE, tmp_path / "libown.so").stdout.split()
    assert int(taken) >= 1 and int(given) < int(after) <= int(taken)
