// SPDX-License-Identifier: Apache-2.0
// Device and pinned host memory: pinned allocations, freeing, and how much there is.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

class MemoryTest : public support::DeviceTest {
 protected:
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        EXPECT_LE(free, total);
        return free;
    }
};

// A call that frees takes an allocation of its kind once, and nothing inside of one.
struct FreeCall {
    const char* name;
    const char* argument;
    aclError (*free)(void*);
};
void ExpectTakesLiveOnesOnly(const FreeCall& call, void* live, void* inside, void* otherKind) {
    int local = 0;
    const std::string prefix = std::string(call.name) + ": ";
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, call.free(nullptr), {prefix, call.argument}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, call.free(&local), {prefix, call.argument}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, call.free(inside)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, call.free(otherKind)));
    EXPECT_TRUE(IsOk(call.free(live)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, call.free(live)));
}

TEST_F(MemoryTest, FreeTakesLiveAllocationsOnly) {
    DeviceBuffer device(256);
    const PinnedArray<char> pinned(64);
    void* const inside = device.At(64);
    ExpectTakesLiveOnesOnly({"aclrtFree", "devPtr", &aclrtFree}, device.Release(), inside,
                            pinned.Get());
}

TEST_F(MemoryTest, FreeHostTakesLiveAllocationsOnly) {
    const DeviceBuffer device(256);
    PinnedArray<char> pinned(64);
    void* const inside = pinned.Get() + 8;
    ExpectTakesLiveOnesOnly({"aclrtFreeHost", "hostPtr", &aclrtFreeHost}, pinned.Release(), inside,
                            device.Get());
}

TEST_F(MemoryTest, MallocHostNeedsAnOutputAndASize) {
    int local = 0;
    void* memory = &local;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(nullptr, 64),
                        {"aclrtMallocHost: ", "hostPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocHost(&memory, 0),
                        {"aclrtMallocHost: ", "size"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocHost(&memory, SIZE_MAX / 2),
                        {"aclrtMallocHost: "}));
    EXPECT_EQ(memory, &local);
}

TEST_F(MemoryTest, InfoGoesDownAndComesBack) {
    const size_t before = FreeBytes();
    {
        const DeviceBuffer first(3 << 20);
        EXPECT_LE(FreeBytes(), before - (3 << 20));
        const DeviceBuffer second(1000);
        EXPECT_LE(FreeBytes(), before - (3 << 20) - 1000);
    }
    EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, PinnedMemoryIsNotOfTheDevice) {
    const size_t before = FreeBytes();
    const PinnedArray<char> pinned(1 << 20);
    EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, InfoTakesEveryKind) {
    size_t total = 0;
    for (int attr = ACL_DDR_MEM; attr <= ACL_MEM_P2P_HUGE1G; ++attr) {
        size_t free = 0, all = 0;
        ASSERT_TRUE(IsOk(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free, &all))) << attr;
        EXPECT_GT(all, 0U);
        total = total == 0 ? all : total;
        EXPECT_EQ(all, total) << "one pool for every kind";
    }
}

TEST_F(MemoryTest, InfoRefusesOtherArguments) {
    size_t free = 7, total = 7;
    for (const int attr : {18, 31}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtGetMemInfo(static_cast<aclrtMemAttr>(attr), &free, &total),
                            {"aclrtGetMemInfo: ", "attr"}));
    }
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total), {"free"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemInfo(ACL_HBM_MEM, &free, nullptr), {"total"}));
    EXPECT_EQ(free, 7U);
    EXPECT_EQ(total, 7U);
}

TEST_F(MemoryTest, FreeWhileQueuedWorkUsesTheBlock) {
    const size_t before = FreeBytes();
    const size_t size = 1 << 20;
    const PinnedArray<char> result(size);
    DeviceBuffer block(size);
    void* const memory = block.Get();
    const Stream stream = support::MakeStream();
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory, size, 0x5a, size, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtMemcpyAsync(result.Get(), size, memory, size,
                                          ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtFree(block.Release())));
        EXPECT_LE(FreeBytes(), before - size) << "work still uses it";
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(memory, size, 0, size)));
        // Were the block given out again, the queued work would write into one of these.
        std::vector<DeviceBuffer> others;
        for (int i = 0; i < 8; ++i) {
            others.emplace_back(std::vector<char>(size, 'o'));
        }
        gate.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        for (const DeviceBuffer& other : others) {
            EXPECT_EQ(other.Download<char>(), std::vector<char>(size, 'o'));
        }
    }
    EXPECT_EQ(result.Values(), std::vector<char>(size, 0x5a));
    EXPECT_EQ(FreeBytes(), before);
}

TEST_F(MemoryTest, FreeDoesNotWait) {
    const Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    for (int i = 0; i < 20; ++i) {
        DeviceBuffer block(4096);
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(block.Get(), 4096, i, 4096, stream.Get())));
    }
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(MemoryTest, FreeHostWhileQueuedWorkUsesTheBlock) {
    const size_t size = 1 << 16;
    const DeviceBuffer device(std::vector<char>(size, 0));
    PinnedArray<char> pinned(size, 'p');
    const Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), size, pinned.Get(), size,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    char* const memory = pinned.Release();
    ASSERT_TRUE(IsOk(aclrtFreeHost(memory)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(memory)));
    const PinnedArray<char> other(size, 'q');
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(size, 'p'));
}

// Blocks of a page and more begin with a page, which processes can share.
TEST_F(MemoryTest, ABlockOfExactlyAPageBeginsWithOne) {
    std::vector<support::Owned<&aclrtDestroyNotify>> notifies;  // small parts of the same pages
    for (int i = 0; i < 32; ++i) {
        aclrtNotify notify = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT)));
        notifies.emplace_back(notify);
        const DeviceBuffer page(4096), more(4097);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(page.Get()) % 4096, 0U);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(more.Get()) % 4096, 0U);
    }
    const DeviceBuffer page(4096);
    char key[65] = {};
    EXPECT_TRUE(IsOk(aclrtIpcMemGetExportKey(page.Get(), 4096, key, sizeof(key), 0)));
    EXPECT_TRUE(IsOk(aclrtIpcMemClose(key)));
}

TEST_F(MemoryTest, ThreadsMayAllocateTogether) {
    const size_t before = FreeBytes();
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([context, t] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            for (int i = 0; i < 100; ++i) {
                const std::vector<int> values(100 + i, t * 1000 + i);
                const DeviceBuffer block(values);
                ASSERT_EQ(block.Download<int>(), values);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(FreeBytes(), before);
}

}  // namespace
