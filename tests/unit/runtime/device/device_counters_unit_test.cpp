// SPDX-License-Identifier: Apache-2.0
// Counters of a device: those of every launch, and those that operators name.
#include <gtest/gtest.h>

#include <thread>

#include "src/runtime/device/device.h"

namespace advstep {
namespace {

constexpr CounterNames kFruit = {2, {"apples", "pears"}};
constexpr CounterNames kMoreFruit = {1, {"pears"}};

TEST(DeviceCountersTest, CountersOfOneNameAreOneSum) {
    DeviceCounters counters;
    const int64_t fruit[] = {3, 4};
    counters.AddSuccess(kFruit, fruit);
    counters.AddSuccess(kMoreFruit, fruit);
    EXPECT_EQ(counters.Read("apples"), 3U);
    EXPECT_EQ(counters.Read("pears"), 7U);
    EXPECT_EQ(counters.Read("plums"), 0U);
    EXPECT_EQ(counters.Read(DeviceCounters::kLaunches), 2U);
    EXPECT_EQ(DeviceCounters().Read("apples"), 0U) << "another device";
}

TEST(DeviceCountersTest, AResetStartsFromZero) {
    DeviceCounters counters;
    const int64_t fruit[] = {3, 4};
    counters.AddSuccess(kFruit, fruit);
    counters.AddFailure(DeviceCounters::kExceptions);
    counters.Reset();
    counters.AddSuccess(kFruit, fruit);
    counters.AddFailure(DeviceCounters::kAllocationFailures);
    counters.AddSuccess();
    EXPECT_EQ(counters.Read("apples"), 3U);
    EXPECT_EQ(counters.Read(DeviceCounters::kLaunches), 3U);
    EXPECT_EQ(counters.Read(DeviceCounters::kExceptions), 0U);
    EXPECT_EQ(counters.Read(DeviceCounters::kAllocationFailures), 1U);
}

// More threads than have sheets of their own, one after another.
TEST(DeviceCountersTest, EveryThreadCounts) {
    DeviceCounters counters;
    constexpr int kThreads = 20;
    for (int thread = 0; thread < kThreads; ++thread) {
        std::thread([&] {
            const int64_t fruit[] = {1, 0};
            counters.AddSuccess(kFruit, fruit);
            counters.AddFailure(DeviceCounters::kExceptions);
        }).join();
    }
    EXPECT_EQ(counters.Read("apples"), uint64_t{kThreads});
    EXPECT_EQ(counters.Read(DeviceCounters::kLaunches), uint64_t{2 * kThreads});
    EXPECT_EQ(counters.Read(DeviceCounters::kExceptions), uint64_t{kThreads});
}

}  // namespace
}  // namespace advstep
