// SPDX-License-Identifier: Apache-2.0
// Tests of registered and mapped ranges in DeviceMemory.
#include <gtest/gtest.h>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/stream/stream.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

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
    Enter(1000, 40);
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
    EXPECT_TRUE(FailsWith(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                          memory.Unregister(Pointer(2001), &pending), {"ptr"}));
    ASSERT_TRUE(Succeeds(memory.Unregister(Pointer(2000), &pending)));
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
