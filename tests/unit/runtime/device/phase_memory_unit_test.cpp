// SPDX-License-Identifier: Apache-2.0
// Tests of kept memory: one lease at a time, limits, release.

#include "src/runtime/device/core_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace advstep {
namespace {

TEST(PhaseMemoryTest, LendsWhatIsWanted) {
    PhaseMemory memory;
    for (const int64_t bytes : {100, 5000, 10}) {
        const PhaseMemory::Lease lease = memory.Borrow(bytes);
        ASSERT_EQ(lease.bytes(), bytes);
        std::memset(lease.data(), 1, static_cast<size_t>(bytes));
    }
}

TEST(PhaseMemoryTest, LendsToOneAtATime) {
    PhaseMemory memory;
    {
        const PhaseMemory::Lease first = memory.Borrow(64);
        const PhaseMemory::Lease second = memory.Borrow(64);
        EXPECT_EQ(first.bytes(), 64);
        EXPECT_EQ(second.bytes(), 0);
        EXPECT_EQ(second.data(), nullptr);
    }
    EXPECT_EQ(memory.Borrow(64).bytes(), 64);
}

TEST(PhaseMemoryTest, LendsNoMoreThanItMay) {
    PhaseMemory memory;
    EXPECT_EQ(memory.Borrow(PhaseMemory::kMostBytes + 1).bytes(), PhaseMemory::kMostBytes);
}

TEST(PhaseMemoryTest, LendsAgainAfterFree) {
    PhaseMemory memory;
    EXPECT_EQ(memory.Borrow(64).bytes(), 64);
    memory.Free();
    const PhaseMemory::Lease lease = memory.Borrow(32);
    ASSERT_EQ(lease.bytes(), 32);
    std::memset(lease.data(), 1, 32);
}

}  // namespace
}  // namespace advstep
