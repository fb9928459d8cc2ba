// SPDX-License-Identifier: Apache-2.0
// Tests of virtual memory: deferred unmapping, release, handles.

#include "src/runtime/memory/virtual_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

constexpr size_t kUnit = VirtualMemory::kGranularity;

class VirtualMemoryTest : public testing::Test {
 protected:
    ~VirtualMemoryTest() override {
        places_.clear();
        virtual_.ReleaseAll(nullptr);
    }
    static Settings WithMemory() {
        Settings settings;
        settings.memoryBytes = 8 * kUnit;
        return settings;
    }
    char* Reserve(size_t bytes) {
        void* address = nullptr;
        EXPECT_TRUE(Succeeds(virtual_.Reserve(&device_, bytes, kUnit, nullptr, &address)));
        return static_cast<char*>(address);
    }
    Handle Create(size_t bytes) {
        Handle handle = 0;
        EXPECT_TRUE(Succeeds(virtual_.Create(&device_, bytes, &handle)));
        return handle;
    }
    bool IsMemory(const void* address) const {
        Allocation found;
        return memory_.Find(address, &found);
    }
    // The place of a task that only a wait will run.
    Ticket QueueOne() {
        Ticket ticket;
        EXPECT_TRUE(Succeeds(bench_.EnqueueCount(&ran_, {}, &ticket)));
        return ticket;
    }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    const Device device_{0, WithMemory()};
    static inline std::vector<Ticket> places_;  // of work under way
    DeviceMemory memory_{[](const Device*) { return places_; }};
    VirtualMemory virtual_{memory_};
    bool ended_ = false;
    Stream stream_;
    unit::CountingWorkers workers_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
    std::atomic<int> ran_{0};
};

TEST_F(VirtualMemoryTest, UnmappedMemoryStaysUntilEarlierWorkHasRun) {
    char* const range = Reserve(kUnit);
    const Handle handle = Create(kUnit);
    ASSERT_TRUE(Succeeds(virtual_.Map(range, kUnit, 0, handle)));
    std::memset(range, 'x', kUnit);
    places_ = {QueueOne()};
    ASSERT_TRUE(Succeeds(virtual_.Unmap(range)));
    ASSERT_TRUE(Succeeds(virtual_.Destroy(handle, &ended_)));
    ASSERT_TRUE(Succeeds(virtual_.Release(range)));
    EXPECT_FALSE(IsMemory(range));
    EXPECT_EQ(range[kUnit - 1], 'x') << "the queued task would read it";
    EXPECT_EQ(memory_.FreeBytes(device_), 7 * kUnit);
    EXPECT_TRUE(virtual_.Reserved(range, 1));
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    virtual_.Reclaim();
    EXPECT_EQ(memory_.FreeBytes(device_), 8 * kUnit);
    EXPECT_FALSE(virtual_.Reserved(range, 1));
}

TEST_F(VirtualMemoryTest, MappingAnewRunsEarlierWorkFirst) {
    char* const range = Reserve(2 * kUnit);
    const Handle first = Create(2 * kUnit);
    const Handle second = Create(2 * kUnit);
    ASSERT_TRUE(Succeeds(virtual_.Map(range, kUnit, 0, first)));
    ASSERT_TRUE(Succeeds(virtual_.Map(range + kUnit, kUnit, kUnit, first)));
    places_ = {QueueOne()};
    ASSERT_TRUE(Succeeds(virtual_.Unmap(range)));
    places_ = {QueueOne()};
    ASSERT_TRUE(Succeeds(virtual_.Unmap(range + kUnit)));
    EXPECT_EQ(ran_, 0);
    EXPECT_TRUE(Succeeds(virtual_.Map(range, 2 * kUnit, 0, second)));
    EXPECT_EQ(ran_, 2);
    EXPECT_TRUE(IsMemory(range + 2 * kUnit - 1));
}

TEST_F(VirtualMemoryTest, ReleaseAllKeepsWhatQueuedWorkUses) {
    char* const range = Reserve(kUnit);
    ASSERT_TRUE(Succeeds(virtual_.Map(range, kUnit, 0, Create(kUnit))));
    range[5] = 'x';
    places_ = {QueueOne()};
    virtual_.ReleaseAll(&device_);
    EXPECT_FALSE(IsMemory(range));
    EXPECT_EQ(range[5], 'x');
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, virtual_.Release(range), {"virPtr"}));
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    virtual_.Reclaim();
    EXPECT_EQ(memory_.FreeBytes(device_), 8 * kUnit);
}

TEST_F(VirtualMemoryTest, NewMemoryIsNotTheOldOnes) {
    char* const range = Reserve(kUnit);
    for (int round = 0; round < 3; ++round) {
        const Handle handle = Create(kUnit);
        ASSERT_TRUE(Succeeds(virtual_.Map(range, kUnit, 0, handle)));
        EXPECT_EQ(range[100], 0);
        range[100] = 'x';
        ASSERT_TRUE(Succeeds(virtual_.Unmap(range)));
        ASSERT_TRUE(Succeeds(virtual_.Destroy(handle, &ended_)));
    }
}

TEST_F(VirtualMemoryTest, ManyHandlesNeedNoDescriptors) {
    Settings settings;
    settings.memoryBytes = uint64_t{1} << 40;
    const Device large(1, settings);
    std::vector<Handle> handles(5000);
    for (Handle& handle : handles) {
        ASSERT_TRUE(Succeeds(virtual_.Create(&large, kUnit, &handle)));
    }
    EXPECT_EQ(memory_.FreeBytes(large), settings.memoryBytes - 5000 * kUnit);
    for (const Handle handle : handles) {
        EXPECT_TRUE(Succeeds(virtual_.Destroy(handle, &ended_)));
    }
    EXPECT_EQ(memory_.FreeBytes(large), settings.memoryBytes);
}

using VirtualMemoryDeathTest = VirtualMemoryTest;

TEST_F(VirtualMemoryDeathTest, AddressesWithoutMemoryCannotBeTouched) {
    char* const range = Reserve(kUnit);
    ASSERT_TRUE(Succeeds(virtual_.Map(range, kUnit, 0, Create(kUnit))));
    range[0] = 'x';
    ASSERT_TRUE(Succeeds(virtual_.Unmap(range)));
    EXPECT_DEATH(*static_cast<volatile char*>(range) = 'y', "");
}

}  // namespace
}  // namespace advstep
