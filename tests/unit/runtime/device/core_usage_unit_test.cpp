// SPDX-License-Identifier: Apache-2.0
// Tests of the share of the last second in which cores were busy.

#include "src/runtime/device/device.h"

#include <gtest/gtest.h>

#include <chrono>

namespace advstep {
namespace {

using std::chrono::milliseconds;

// A moment at which a period of the measurement begins.
constexpr CoreUsage::Clock::time_point kNow{std::chrono::seconds(1000)};

TEST(CoreUsageTest, TheFirstQuestionBeginsTheMeasurement) {
    CoreUsage usage;
    EXPECT_FALSE(usage.On());
    EXPECT_EQ(usage.Percent(kNow), -1);
    EXPECT_TRUE(usage.On());
    EXPECT_EQ(usage.Percent(kNow), 0);
}

TEST(CoreUsageTest, CountsTheLastSecondByShareOfTheCores) {
    CoreUsage usage;
    EXPECT_EQ(usage.Percent(kNow), -1);
    usage.Add(kNow - milliseconds(3000), kNow - milliseconds(2600), 1.0);  // long over
    EXPECT_EQ(usage.Percent(kNow), 0);
    usage.Add(kNow - milliseconds(1050), kNow - milliseconds(950), 1.0);  // half of it
    EXPECT_EQ(usage.Percent(kNow), 5);
    usage.Add(kNow - milliseconds(400), kNow, 0.5);
    EXPECT_EQ(usage.Percent(kNow), 25);
    EXPECT_EQ(usage.Percent(kNow + milliseconds(5000)), 0);
}

TEST(CoreUsageTest, IsNeverMoreThanAll) {
    CoreUsage usage;
    EXPECT_EQ(usage.Percent(kNow), -1);
    usage.Add(kNow - milliseconds(900), kNow, 1.0);
    usage.Add(kNow - milliseconds(900), kNow, 1.0);
    EXPECT_EQ(usage.Percent(kNow), 100);
}

}  // namespace
}  // namespace advstep
