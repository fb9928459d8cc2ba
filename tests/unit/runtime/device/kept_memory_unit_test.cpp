// SPDX-License-Identifier: Apache-2.0
// Tests of kept memory: one lease at a time, limits, release.

#include "src/runtime/device/core_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace advstep {
namespace {

TEST(KeptMemoryTest, LendsWhatIsWanted) {
    KeptMemory memory;
    for (const int64_t bytes : {100, 5000, 10}) {
        const KeptMemory::Lease lease = memory.Borrow(bytes);
        ASSERT_EQ(lease.bytes(), bytes);
        std::memset(lease.data(), 1, static_cast<size_t>(bytes));
    }
}

TEST(KeptMemoryTest, LendsToOneAtATime) {
    KeptMemory memory;
    {
        const KeptMemory::Lease first = memory.Borrow(64);
        const KeptMemory::Lease second = memory.Borrow(64);
        EXPECT_EQ(first.bytes(), 64);
        EXPECT_EQ(second.bytes(), 0);
        EXPECT_EQ(second.data(), nullptr);
    }
    EXPECT_EQ(memory.Borrow(64).bytes(), 64);
}

TEST(KeptMemoryTest, LendsNoMoreThanItMay) {
    KeptMemory memory;
    EXPECT_EQ(memory.Borrow(KeptMemory::kMostBytes + 1).bytes(), KeptMemory::kMostBytes);
}

TEST(KeptMemoryTest, LendsAgainAfterFree) {
    KeptMemory memory;
    EXPECT_EQ(memory.Borrow(64).bytes(), 64);
    memory.Free();
    const KeptMemory::Lease lease = memory.Borrow(32);
    ASSERT_EQ(lease.bytes(), 32);
    std::memset(lease.data(), 1, 32);
}

}  // namespace
}  // namespace advstep
