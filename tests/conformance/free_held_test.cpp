// SPDX-License-Identifier: Apache-2.0
// Freed memory while a stream waits: only work that may use the memory holds it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "conformance/one_query.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace {

using conformance::MakeNotify;
using conformance::Notify;
using conformance::Property;
using namespace support;

constexpr size_t kHeldTotal = size_t{64} << 20;
constexpr size_t kHeldBlock = size_t{16} << 20;

// A device of 64 MiB, and a stream that waits for a notify.
class FreeHeldTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_MEMORY", "64M"}}));
        waiting_ = support::MakeStream();
        notify_ = MakeNotify();
        ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify_.Get(), waiting_.Get(), 0)));
    }
    void TearDown() override {
        Continue();
        notify_ = Notify();
        waiting_ = Stream();
    }
    void Continue() {
        EXPECT_TRUE(IsOk(aclrtRecordNotify(notify_.Get(), nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(waiting_.Get())));
    }
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }

    Stream waiting_;
    Notify notify_;
};

TEST_F(FreeHeldTest, AWaitHoldsNothing) {
    const Stream work = support::MakeStream();
    for (int round = 0; round < 20; ++round) {  // five times what the device has
        DeviceBuffer device(kHeldBlock);
        ASSERT_NE(device.Get(), nullptr) << round;
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kHeldBlock, round, 4096, work.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(work.Get())));
        ASSERT_TRUE(IsOk(aclrtFree(device.Release())));
    }
    EXPECT_EQ(FreeBytes(), kHeldTotal);
}

// The records, waits and empty tasks of a communication thread.
TEST_F(FreeHeldTest, NeitherDoTasksWithoutMemory) {
    const support::Event event = support::MakeEvent();
    const support::Event external = support::MakeEventWithFlag(ACL_EVENT_EXTERNAL);
    EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(waiting_.Get(), event.Get())));
    EXPECT_TRUE(IsOk(aclrtRecordEvent(external.Get(), waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(waiting_.Get(), external.Get())));
    EXPECT_TRUE(IsOk(aclrtResetEvent(event.Get(), waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtRecordNotify(notify_.Get(), waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify_.Get(), waiting_.Get(), 0)));
    EXPECT_TRUE(IsOk(aclrtResetOverflowStatus(waiting_.Get())));
    DeviceBuffer device(kHeldBlock);
    EXPECT_TRUE(IsOk(aclrtFree(device.Release())));
    EXPECT_EQ(FreeBytes(), kHeldTotal);
}

// Each kind of work behind the wait holds the memory that it uses, and leaves its neighbours alone.
TEST_F(FreeHeldTest, WorkHoldsWhatItUses) {
    struct Case {
        const char* name;
        void (*queue)(char* block, aclrtStream stream);
    };
    static char sink[64];
    const Case cases[] = {
        {"fill",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(IsOk(aclrtMemsetAsync(block + 4096, 4096, 1, 4096, stream)));
         }},
        {"copy",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(IsOk(
                 aclrtMemcpyAsync(block + 4096, 8, block, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)));
         }},
        {"copy of rows",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(IsOk(aclrtMemcpy2dAsync(block, 64, block + 4096, 64, 8, 4,
                                                 ACL_MEMCPY_DEVICE_TO_DEVICE, stream)));
         }},
        {"copy with offset",
         [](char* block, aclrtStream stream) {
             auto** const pointers = reinterpret_cast<void**>(block);
             pointers[0] = block + 1024;
             EXPECT_TRUE(IsOk(
                 aclrtMemcpyAsyncWithOffset(pointers, 64, 8, const_cast<const void**>(pointers), 8,
                                            0, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream)));
         }},
        {"value write",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(IsOk(aclrtValueWrite(block + 8, 1, 0, stream)));
         }},
        {"value wait",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(IsOk(aclrtMemset(block, 64, 0, 64)));
             EXPECT_TRUE(IsOk(aclrtValueWait(block + 8, 0, ACL_STREAM_WAIT_VALUE_EQ, stream)));
         }},
        {"operator",
         [](char* block, aclrtStream stream) {
             const std::vector<int64_t> values = conformance::OneQuery();
             EXPECT_TRUE(
                 IsOk(aclrtMemcpy(block + 512, 4096, values.data(), values.size() * sizeof(int64_t),
                                  ACL_MEMCPY_HOST_TO_DEVICE)));
             EXPECT_TRUE(IsOk(
                 aclnnAdvanceStep(nullptr, 0, conformance::PlanOneQuery(block + 512), stream)));
         }},
        {"reduction",
         [](char* block, aclrtStream stream) {
             EXPECT_TRUE(
                 IsOk(aclrtReduceAsync(block, block + 4096, 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                                       ACL_INT32, stream, nullptr)));
         }},
        {"host function",
         [](char*, aclrtStream stream) {
             EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(
                 stream, [](void*) {}, sink)));
         }},
    };
    for (const Case& each : cases) {
        DeviceBuffer used(kHeldBlock), other(kHeldBlock);
        each.queue(used.At(0), waiting_.Get());
        const bool unknown = std::strcmp(each.name, "host function") == 0 ||
                             std::strcmp(each.name, "copy with offset") == 0;
        EXPECT_TRUE(IsOk(aclrtFree(other.Release())));
        EXPECT_EQ(FreeBytes(), kHeldTotal - (unknown ? 2 : 1) * kHeldBlock) << each.name;
        EXPECT_TRUE(IsOk(aclrtFree(used.Release())));
        EXPECT_EQ(FreeBytes(), kHeldTotal - (unknown ? 2 : 1) * kHeldBlock) << each.name;
        // Work that is queued after the frees holds neither.
        const DeviceBuffer next(kHeldBlock);
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(next.Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
        Continue();
        EXPECT_EQ(FreeBytes(), kHeldTotal - kHeldBlock) << each.name;
        ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify_.Get(), waiting_.Get(), 0)));
    }
}

TEST_F(FreeHeldTest, WorkThatWasSkippedHoldsNothing) {
    DeviceBuffer device(kHeldBlock);
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtFree(device.Release())));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(waiting_.Get())));
    EXPECT_EQ(FreeBytes(), kHeldTotal);
}

// A block is over before older ones that need to wait.
TEST_F(FreeHeldTest, OrderDoesNotMatter) {
    std::vector<DeviceBuffer> blocks;
    for (int i = 0; i < 4; ++i) {
        blocks.emplace_back(kHeldBlock);
    }
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(blocks[0].Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(blocks[2].Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    for (DeviceBuffer& block : blocks) {
        EXPECT_TRUE(IsOk(aclrtFree(block.Release())));
    }
    const DeviceBuffer first(2 * kHeldBlock);
    EXPECT_NE(first.Get(), nullptr);
    EXPECT_EQ(FreeBytes(), 0U);
}

TEST_F(FreeHeldTest, TheMessageSaysWhatWaitsForWhom) {
    DeviceBuffer one(kHeldBlock), two(kHeldBlock);
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(one.Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(two.Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtFree(one.Release())));
    EXPECT_TRUE(IsOk(aclrtFree(two.Release())));
    char stream[32];
    std::snprintf(stream, sizeof(stream), "stream %p", waiting_.Get());
    void* memory = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                        aclrtMalloc(&memory, 3 * kHeldBlock, ACL_MEM_MALLOC_HUGE_FIRST),
                        {"aclrtMalloc: ", "have been freed and wait", stream},
                        {3 * kHeldBlock, 2 * kHeldBlock}));
    Continue();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                        aclrtMalloc(&memory, kHeldTotal + 1, ACL_MEM_MALLOC_HUGE_FIRST), {"size"}));
    EXPECT_EQ(std::string(support::TakeMessage()).find("wait"), std::string::npos);
}

size_t ResidentBytes() {
    std::ifstream file("/proc/self/statm");
    size_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Memory that no device limits is given back too, before much of the host's is kept.
TEST_F(FreeHeldTest, PinnedMemoryIsGivenBackToo) {
    if (kAddressSanitizer || kThreadSanitizer) {
        GTEST_SKIP() << "the sanitizer keeps freed memory";
    }
    const size_t before = ResidentBytes();
    for (int round = 0; round < 40; ++round) {
        void* pinned = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocHost(&pinned, kHeldBlock)));
        std::memset(pinned, 'p', kHeldBlock);
        ASSERT_TRUE(IsOk(aclrtFreeHost(pinned)));
    }
    EXPECT_LT(ResidentBytes(), before + 12 * kHeldBlock);
}

class MappedHeldTest : public FreeHeldTest {
 protected:
    void SetUp() override {
        FreeHeldTest::SetUp();
        ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range_, 2 * kHeldBlock, 0, nullptr, 1)));
    }
    void TearDown() override {
        FreeHeldTest::TearDown();
        EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(range_)));
    }
    // Maps new memory, which ends with its mapping.
    void Map(char* at) {
        const aclrtPhysicalMemProp prop = Property();
        aclrtDrvMemHandle handle = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, kHeldBlock, &prop, 0)));
        ASSERT_TRUE(IsOk(aclrtMapMem(at, kHeldBlock, 0, handle, 0)));
        ASSERT_TRUE(IsOk(aclrtFreePhysical(handle)));
    }
    char* At(size_t byte) const { return static_cast<char*>(range_) + byte; }

    void* range_ = nullptr;
};

TEST_F(MappedHeldTest, AWaitHoldsNeitherMemoryNorAddresses) {
    for (int round = 0; round < 20; ++round) {
        ASSERT_NO_FATAL_FAILURE(Map(At(0)));
        ASSERT_TRUE(IsOk(aclrtUnmapMem(At(0))));
    }
    EXPECT_EQ(FreeBytes(), kHeldTotal);
}

TEST_F(MappedHeldTest, WorkHoldsWhatItUses) {
    ASSERT_NO_FATAL_FAILURE(Map(At(0)));
    ASSERT_NO_FATAL_FAILURE(Map(At(kHeldBlock)));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(At(0), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(At(0))));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(At(kHeldBlock))));
    EXPECT_EQ(FreeBytes(), kHeldTotal - kHeldBlock);
    void* memory = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                        aclrtMalloc(&memory, kHeldTotal, ACL_MEM_MALLOC_HUGE_FIRST),
                        {"have been freed and wait"}, {kHeldBlock}));
}

// The tensors of an operator may lie across neighbours, of which its record has one address.
TEST_F(MappedHeldTest, OperatorsHoldTheNeighboursToo) {
    ASSERT_NO_FATAL_FAILURE(Map(At(0)));
    ASSERT_NO_FATAL_FAILURE(Map(At(kHeldBlock)));
    char* const base = At(kHeldBlock - 40);
    const std::vector<int64_t> values = conformance::OneQuery();
    std::memcpy(base, values.data(), values.size() * sizeof(int64_t));
    EXPECT_TRUE(
        IsOk(aclnnAdvanceStep(nullptr, 0, conformance::PlanOneQuery(base), waiting_.Get())));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(At(0))));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(At(kHeldBlock))));
    EXPECT_EQ(FreeBytes(), kHeldTotal - 2 * kHeldBlock);
}

TEST_F(FreeHeldTest, AnUnregistrationDoesNotWaitForOtherWork) {
    support::PageVector<char> host(4096, 'h');
    char* const begin = host.data();
    DeviceBuffer device(kHeldBlock);
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), kHeldBlock, 1, kHeldBlock, waiting_.Get())));
    void* address = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(begin, 4096, ACL_HOST_REGISTER_MAPPED, &address)));
    EXPECT_TRUE(IsOk(aclrtHostUnregister(begin)));  // or the watchdog ends the test
}

}  // namespace
