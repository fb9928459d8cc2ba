// SPDX-License-Identifier: Apache-2.0
// Tests of device memory: allocations, lookups, limits, deferred frees, and mapped ranges.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/stream/stream.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

constexpr uint64_t kTotal = 1 << 20;

Settings WithMemory(uint64_t bytes) {
    Settings settings;
    settings.memoryBytes = bytes;
    return settings;
}

// A stream with a task that fills 4096 bytes.
class FillLater {
 public:
    explicit FillLater(void* begin) {
        EXPECT_TRUE(Succeeds(bench_.Enqueue([begin] {
            std::memset(begin, 0x5A, 4096);  // the address sanitizer watches
            return Status();
        })));
    }
    Ticket Place() const { return bench_.Get().Now(); }
    Status Synchronize() const {
        return bench_.Get().Synchronize(bench_.GetHandle(), unit::kCaller);
    }

 private:
    unit::CountingWorkers workers_;
    Stream stream_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
};

class DeviceMemoryTest : public testing::Test {
 protected:
    void TearDown() override {
        places_.clear();
        memory_.ReleaseAll(nullptr);
    }

    void* Allocate(size_t bytes, const Device* device) {
        void* address = nullptr;
        EXPECT_TRUE(Succeeds(memory_.Allocate(MemoryKind::kDevice, device, bytes, &address)));
        return address;
    }
    void* AllocatePinned(size_t bytes) {
        void* address = nullptr;
        EXPECT_TRUE(Succeeds(memory_.Allocate(MemoryKind::kPinnedHost, nullptr, bytes, &address)));
        return address;
    }
    Status Free(void* address, MemoryKind kind = MemoryKind::kDevice) {
        return memory_.Free(kind, address);
    }
    bool Found(const void* address) const {
        Allocation allocation;
        return memory_.Find(address, &allocation);
    }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    const Device device_{0, WithMemory(kTotal)};
    const Device other_{1, WithMemory(kTotal)};
    static inline std::vector<Ticket> places_;  // of work under way
    DeviceMemory memory_{[](const Device*) { return places_; }};
};

TEST_F(DeviceMemoryTest, AllocationsAreAlignedAndWritable) {
    for (const size_t bytes : {size_t{1}, size_t{63}, size_t{4096}, size_t{100001}}) {
        void* const address = Allocate(bytes, &device_);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0U);
        std::memset(address, 0x5A, bytes);
    }
}

TEST_F(DeviceMemoryTest, LargeAllocationsBeginALargePage) {
    const Device large(2, WithMemory(uint64_t{16} << 20));
    void* const address = Allocate(size_t{4} << 20, &large);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % (2U << 20), 0U);
}

TEST_F(DeviceMemoryTest, FindsEveryByteAndNoOther) {
    auto* const begin = static_cast<char*>(Allocate(100, &device_));
    Allocation allocation;
    for (const int byte : {0, 1, 50, 99}) {
        ASSERT_TRUE(memory_.Find(begin + byte, &allocation)) << byte;
        EXPECT_EQ(allocation.begin, reinterpret_cast<uintptr_t>(begin));
        EXPECT_EQ(allocation.bytes, 100U);
        EXPECT_EQ(allocation.kind, MemoryKind::kDevice);
        EXPECT_EQ(allocation.device, &device_);
        EXPECT_EQ(allocation.BytesFrom(begin + byte), static_cast<size_t>(100 - byte));
    }
    EXPECT_FALSE(Found(begin + 100));
    EXPECT_FALSE(Found(begin - 1));
    EXPECT_FALSE(Found(nullptr));
    int local = 0;
    EXPECT_FALSE(Found(&local));
}

TEST_F(DeviceMemoryTest, PinnedMemoryBelongsToNoDevice) {
    void* const address = AllocatePinned(64);
    Allocation allocation;
    ASSERT_TRUE(memory_.Find(address, &allocation));
    EXPECT_EQ(allocation.kind, MemoryKind::kPinnedHost);
    EXPECT_EQ(allocation.device, nullptr);
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
}

TEST_F(DeviceMemoryTest, CountsWhatIsFree) {
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
    void* const first = Allocate(1000, &device_);
    Allocate(24, &device_);
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal - 1024);
    EXPECT_EQ(memory_.FreeBytes(other_), kTotal);
    EXPECT_TRUE(Succeeds(Free(first)));
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal - 24);
}

TEST_F(DeviceMemoryTest, MoreThanIsFreeIsRefusedWithBothSizes) {
    Allocate(kTotal - 100, &device_);
    void* address = nullptr;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION,
                          memory_.Allocate(MemoryKind::kDevice, &device_, 101, &address),
                          {"101", "100", std::to_string(kTotal)}));
    EXPECT_EQ(address, nullptr);
    EXPECT_NE(Allocate(100, &device_), nullptr);  // the last byte can be had
    EXPECT_EQ(memory_.FreeBytes(device_), 0U);
}

TEST_F(DeviceMemoryTest, MoreThanTheHostHasIsRefused) {
    void* address = nullptr;
    const Device boundless(2, WithMemory(~uint64_t{0}));
    EXPECT_TRUE(
        FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  memory_.Allocate(MemoryKind::kDevice, &boundless, size_t{1} << 60, &address)));
    EXPECT_TRUE(
        FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  memory_.Allocate(MemoryKind::kPinnedHost, nullptr, ~size_t{0}, &address)));
    EXPECT_EQ(memory_.FreeBytes(boundless), ~uint64_t{0});
}

TEST_F(DeviceMemoryTest, OnlyTheStartOfALiveAllocationCanBeFreed) {
    auto* const begin = static_cast<char*>(Allocate(100, &device_));
    int local = 0;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, Free(begin + 1), {"aclrtMalloc"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, Free(&local)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, Free(begin, MemoryKind::kPinnedHost)));
    EXPECT_TRUE(Succeeds(Free(begin)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, Free(begin)));
    void* const pinned = AllocatePinned(8);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, Free(pinned)));
    EXPECT_TRUE(Succeeds(Free(pinned, MemoryKind::kPinnedHost)));
}

TEST_F(DeviceMemoryTest, EpochGrowsWhenAnAddressGoes) {
    const uint64_t start = memory_.epoch();
    EXPECT_GT(start, 0U);
    void* const address = Allocate(8, &device_);
    EXPECT_EQ(memory_.epoch(), start);
    EXPECT_TRUE(Succeeds(Free(address)));
    EXPECT_GT(memory_.epoch(), start);
    Allocate(8, &device_);
    const uint64_t freed = memory_.epoch();
    memory_.ReleaseAll(&device_);
    EXPECT_GT(memory_.epoch(), freed);
}

TEST_F(DeviceMemoryTest, FreedBlockStaysUsableForWorkQueuedBefore) {
    void* const begin = Allocate(4096, &device_);
    const FillLater fill(begin);
    places_ = {fill.Place()};
    ASSERT_TRUE(Succeeds(Free(begin)));
    EXPECT_FALSE(Found(begin));  // gone for new calls
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal - 4096);
    EXPECT_TRUE(Succeeds(fill.Synchronize()));
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
}

TEST_F(DeviceMemoryTest, FreedBlockWaitsForEveryPlace) {
    unit::CountingWorkers workers;
    Stream streams[2];
    unit::StreamBench a(&streams[0], 0x157, &workers);
    unit::StreamBench b(&streams[1], 0x257, &workers);
    std::atomic<int> count{0};
    ASSERT_TRUE(Succeeds(a.EnqueueCount(&count)));
    ASSERT_TRUE(Succeeds(b.EnqueueCount(&count)));
    void* const address = Allocate(kTotal, &device_);
    places_ = {streams[0].Now(), streams[1].Now()};
    ASSERT_TRUE(Succeeds(Free(address)));
    EXPECT_TRUE(Succeeds(a.Synchronize()));
    EXPECT_EQ(memory_.FreeBytes(device_), 0U);
    EXPECT_TRUE(Succeeds(b.Synchronize()));
    EXPECT_NE(Allocate(kTotal, &device_), nullptr);  // allocating looks by itself
}

TEST_F(DeviceMemoryTest, ReleaseAllIsForOneDeviceOrForEverything) {
    void* const mine = Allocate(8, &device_);
    void* const others = Allocate(8, &other_);
    void* const pinned = AllocatePinned(8);
    memory_.ReleaseAll(&device_);
    EXPECT_FALSE(Found(mine));
    EXPECT_TRUE(Found(others));
    EXPECT_TRUE(Found(pinned));
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
    memory_.ReleaseAll(nullptr);
    EXPECT_FALSE(Found(others));
    EXPECT_FALSE(Found(pinned));
    EXPECT_EQ(memory_.FreeBytes(other_), kTotal);
}

TEST_F(DeviceMemoryTest, ReleasedMemoryWaitsForWorkUnderWay) {
    void* const begin = Allocate(4096, &device_);
    const FillLater fill(begin);
    places_ = {fill.Place()};
    memory_.ReleaseAll(&device_);
    EXPECT_FALSE(Found(begin));
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal - 4096);
    EXPECT_TRUE(Succeeds(fill.Synchronize()));
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
}

TEST_F(DeviceMemoryTest, ThreadsAllocateFreeAndFind) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([this, thread] {
            for (int round = 0; round < 1000; ++round) {
                const size_t bytes = 64 + static_cast<size_t>(thread);
                auto* const mine = static_cast<unsigned char*>(Allocate(bytes, &device_));
                Allocation allocation;
                ASSERT_TRUE(memory_.Find(mine + 63, &allocation));
                EXPECT_EQ(allocation.bytes, bytes);
                std::memset(mine, thread, bytes);
                EXPECT_EQ(mine[bytes - 1], thread);
                EXPECT_TRUE(Succeeds(Free(mine)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(memory_.FreeBytes(device_), kTotal);
}

// Tests of registered and mapped ranges in DeviceMemory.

// The limit shows whether the bytes have been given back.
class MemoryHoldTest : public DeviceMemoryTest {
 protected:
    bool IsGivenBack() { return memory_.FreeBytes(device_) == kTotal; }
    MemoryHold HoldOf(const void* address, size_t bytes, const void* second = nullptr,
                      size_t secondBytes = 0) {
        return {&memory_.holds(), {address, bytes}, {second, secondBytes}};
    }
};

TEST_F(MemoryHoldTest, AFreedBlockStaysUntilTheHoldEnds) {
    auto* const block = static_cast<char*>(Allocate(4096, &device_));
    {
        const MemoryHold hold = HoldOf(block + 4095, 1);
        ASSERT_TRUE(Succeeds(Free(block)));
        EXPECT_FALSE(Found(block));
        EXPECT_FALSE(IsGivenBack());
        block[4095] = 'x';  // the address sanitizer watches
    }
    EXPECT_TRUE(IsGivenBack());
}

TEST_F(MemoryHoldTest, AResetTakesOnlyTheMap) {
    auto* const block = static_cast<char*>(Allocate(256, &device_));
    {
        const MemoryHold hold = HoldOf(nullptr, 0, block, 1);
        memory_.ReleaseAll(&device_);
        EXPECT_FALSE(Found(block));
        EXPECT_FALSE(IsGivenBack());
        block[255] = 'x';
    }
    EXPECT_TRUE(IsGivenBack());
}

TEST_F(MemoryHoldTest, OtherRangesAreNotHeld) {
    auto* const block = static_cast<char*>(Allocate(4096, &device_));
    const MemoryHold before = HoldOf(block - 1, 1);
    const MemoryHold behind = HoldOf(block + 4096, 1, block + 100, 0);
    ASSERT_TRUE(Succeeds(Free(block)));
    EXPECT_TRUE(IsGivenBack());
}

TEST_F(MemoryHoldTest, EachOfSeveralHoldsCounts) {
    void* const block = Allocate(4096, &device_);
    auto first = std::make_unique<MemoryHold>(&memory_.holds(), HeldRange::Everything());
    auto second = std::make_unique<MemoryHold>(&memory_.holds(), HeldRange(block, 1));
    auto third = std::make_unique<MemoryHold>(&memory_.holds(), HeldRange(block, SIZE_MAX));
    ASSERT_TRUE(Succeeds(Free(block)));
    second.reset();
    EXPECT_FALSE(IsGivenBack());
    first.reset();
    EXPECT_FALSE(IsGivenBack());
    third.reset();
    EXPECT_TRUE(IsGivenBack());
}

TEST_F(MemoryHoldTest, AWaitEndsWithTheLastHoldOfTheRange) {
    void* const block = Allocate(4096, &device_);
    auto hold = std::make_unique<MemoryHold>(&memory_.holds(), HeldRange(block, 1));
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
        memory_.holds().WaitFor({block, 4096});
        ended = true;
    });
    memory_.holds().WaitFor({static_cast<char*>(block) + 1, 4095});  // nobody holds that
    EXPECT_FALSE(ended);
    hold.reset();
    waiter.join();
    EXPECT_TRUE(ended);
    ASSERT_TRUE(Succeeds(Free(block)));
}

// The epoch grows before the look for work, so that work that is being queued sees it.
TEST_F(MemoryHoldTest, TheEpochGrowsBeforeTheLookForWork) {
    static DeviceMemory* looking = nullptr;
    static uint64_t epoch = 0;
    DeviceMemory memory([](const Device*) {
        epoch = looking->epoch();
        return std::vector<Ticket>();
    });
    looking = &memory;
    const auto expectGrowth = [&](auto&& leave) {
        const uint64_t before = memory.epoch();
        leave();
        EXPECT_GT(epoch, before);
    };
    void* block = nullptr;
    ASSERT_TRUE(Succeeds(memory.Allocate(MemoryKind::kDevice, &device_, 64, &block)));
    expectGrowth([&] { (void)memory.Free(MemoryKind::kDevice, block); });
    ASSERT_TRUE(Succeeds(memory.Register(const_cast<Device*>(&device_), 64)));
    std::vector<Ticket> pending;
    HeldRange range;
    expectGrowth([&] { (void)memory.Unregister(const_cast<Device*>(&device_), &pending, &range); });
    memory.EnterMapped({4096, 64, MemoryKind::kDevice, &device_, MemoryOrigin::kMapped, 4096});
    expectGrowth([&] { (void)memory.LeaveMapped(4096, 64); });
}

class MappedMemoryTest : public testing::Test {
 protected:
    static Settings WithMemory(uint64_t bytes) {
        Settings settings;
        settings.memoryBytes = bytes;
        return settings;
    }
    void Enter(uintptr_t begin, size_t bytes, uintptr_t reservation = 1000,
               const Device* device = nullptr) {
        memory_.EnterMapped({begin, bytes, MemoryKind::kDevice,
                             device == nullptr ? &device_ : device, MemoryOrigin::kMapped,
                             reservation});
    }
    // "begin+bytes" of the allocation at an address; "" if there is none.
    std::string At(uintptr_t address) const {
        Allocation found;
        return memory_.Find(reinterpret_cast<void*>(address), &found)
                   ? std::to_string(found.begin) + "+" + std::to_string(found.bytes)
                   : std::string();
    }
    static void* Pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

    const Device device_{0, WithMemory(1000)};
    const Device other_{1, WithMemory(1000)};
    DeviceMemory memory_{[](const Device*) { return std::vector<Ticket>(); }};
};

TEST_F(MappedMemoryTest, NeighboursJoinOnEitherSide) {
    Enter(1000, 10);
    Enter(1020, 10);
    EXPECT_EQ(At(1009), "1000+10");
    EXPECT_EQ(At(1010), "");
    Enter(1010, 10);
    EXPECT_EQ(At(1000), "1000+30");
    EXPECT_EQ(At(1029), "1000+30");
    Enter(1030, 5);
    EXPECT_EQ(At(1034), "1000+35");
    EXPECT_EQ(At(1035), "");
}

TEST_F(MappedMemoryTest, OtherReservationsAndDevicesDoNotJoin) {
    Enter(1000, 10, 1000);
    Enter(1010, 10, 1010);
    Enter(1020, 10, 1010, &other_);
    EXPECT_EQ(At(1005), "1000+10");
    EXPECT_EQ(At(1015), "1010+10");
    EXPECT_EQ(At(1025), "1020+10");
}

TEST_F(MappedMemoryTest, LeavingCutsTheAllocation) {
    for (const uintptr_t begin : {1000, 1010, 1020, 1030}) {
        Enter(begin, 10);
    }
    EXPECT_EQ(At(1000), "1000+40");
    const uint64_t epoch = memory_.epoch();
    memory_.LeaveMapped(1010, 10);
    EXPECT_GT(memory_.epoch(), epoch);
    EXPECT_EQ(At(1009), "1000+10");
    EXPECT_EQ(At(1010), "");
    EXPECT_EQ(At(1019), "");
    EXPECT_EQ(At(1020), "1020+20");
    memory_.LeaveMapped(1000, 10);
    EXPECT_EQ(At(1000), "");
    memory_.LeaveMapped(1030, 10);
    EXPECT_EQ(At(1020), "1020+10");
    EXPECT_EQ(At(1030), "");
    memory_.LeaveMapped(1020, 10);
    EXPECT_EQ(At(1020), "");
}

TEST_F(MappedMemoryTest, ReleaseAllLeavesMappedMemoryToItsOwner) {
    Enter(1000, 10);
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(2000), 10)));
    memory_.ReleaseAll(&device_);
    EXPECT_EQ(At(2000), "2000+10");
    memory_.ReleaseAll(nullptr);
    EXPECT_EQ(At(2000), "");
    EXPECT_EQ(At(1000), "1000+10");
}

TEST_F(MappedMemoryTest, RegistrationsMeetNothing) {
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(2000), 10)));
    Enter(3000, 10);
    for (const uintptr_t begin : {1995, 2000, 2009}) {
        EXPECT_TRUE(FailsWith(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                              memory_.Register(Pointer(begin), 6), {"ptr"}));
    }
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, memory_.Register(Pointer(2995), 6), {}));
    EXPECT_TRUE(Succeeds(memory_.Register(Pointer(1990), 10)));
    EXPECT_TRUE(Succeeds(memory_.Register(Pointer(2010), 10)));
}

TEST_F(MappedMemoryTest, UnregisteringTellsWhatToWaitForAndRaisesTheEpoch) {
    static Stream stream;
    DeviceMemory memory([](const Device*) { return std::vector<Ticket>{{&stream, 3}}; });
    ASSERT_TRUE(Succeeds(memory.Register(Pointer(2000), 10)));
    const uint64_t epoch = memory.epoch();
    std::vector<Ticket> pending;
    HeldRange range;
    EXPECT_TRUE(FailsWith(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                          memory.Unregister(Pointer(2001), &pending, &range), {"ptr"}));
    ASSERT_TRUE(Succeeds(memory.Unregister(Pointer(2000), &pending, &range)));
    EXPECT_EQ(range.begin, 2000U);
    EXPECT_EQ(range.end, 2010U);
    ASSERT_EQ(pending.size(), 1U);
    EXPECT_EQ(pending[0].sequence, 3U);
    EXPECT_GT(memory.epoch(), epoch);
}

TEST_F(MappedMemoryTest, RangesGivenOutAnewEndOldRegistrations) {
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(990), 20)));
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(1012), 4)));
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(1020), 4)));
    Enter(1000, 20);
    EXPECT_EQ(At(990), "");
    EXPECT_EQ(At(1000), "1000+20");
    EXPECT_EQ(At(1020), "1020+4");
}

TEST_F(MappedMemoryTest, AllocationsEndOldRegistrations) {
    // Wherever an allocation may come to lie.
    ASSERT_TRUE(Succeeds(memory_.Register(Pointer(4096), size_t{1} << 62)));
    void* address = nullptr;
    ASSERT_TRUE(Succeeds(memory_.Allocate(MemoryKind::kDevice, &device_, 100, &address)));
    Allocation found;
    ASSERT_TRUE(memory_.Find(address, &found));
    EXPECT_EQ(found.bytes, 100U);
    EXPECT_EQ(At(8192), "");
    memory_.ReleaseAll(nullptr);
}

TEST_F(MappedMemoryTest, ChargesCountAgainstTheDevice) {
    EXPECT_TRUE(Succeeds(memory_.Charge(&device_, 600)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION, memory_.Charge(&device_, 401),
                          {"401", "400", "1000"}));
    void* address = nullptr;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION,
                          memory_.Allocate(MemoryKind::kDevice, &device_, 401, &address), {"400"}));
    EXPECT_EQ(memory_.FreeBytes(other_), 1000U);
    memory_.Credit(&device_, 600);
    EXPECT_EQ(memory_.FreeBytes(device_), 1000U);
}

}  // namespace

}  // namespace advstep
