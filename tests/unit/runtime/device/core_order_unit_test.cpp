// SPDX-License-Identifier: Apache-2.0
// Tests of core orders: ascending, and shuffled by seed.

#include "src/runtime/device/core_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace advstep {
namespace {

std::vector<int32_t> Ascending(int32_t coreCount) {
    std::vector<int32_t> order(static_cast<size_t>(coreCount));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

TEST(CoreOrderTest, AscendingNeedsNoList) {
    const CoreOrder order(std::nullopt);
    EXPECT_TRUE(order.ascending());
    EXPECT_TRUE(order.Of(40).empty());
}

TEST(CoreOrderTest, ShuffledIsAPermutation) {
    for (const uint64_t seed : {0U, 1U, 7U, 4242U}) {
        const CoreOrder order(seed);
        EXPECT_FALSE(order.ascending());
        for (const int32_t coreCount : {1, 2, 3, 40, 48, 1000}) {
            std::vector<int32_t> cores = order.Of(coreCount);
            std::sort(cores.begin(), cores.end());
            EXPECT_EQ(cores, Ascending(coreCount)) << "seed " << seed;
        }
    }
}

TEST(CoreOrderTest, ShuffledIsNotAscending) { EXPECT_NE(CoreOrder(1).Of(40), Ascending(40)); }

TEST(CoreOrderTest, SeedTellsTheOrder) {
    EXPECT_EQ(CoreOrder(5).Of(40), CoreOrder(5).Of(40));
    EXPECT_NE(CoreOrder(5).Of(40), CoreOrder(6).Of(40));
}

// Worked out from the published generator with a swap of the last with one of those left.
TEST(CoreOrderTest, OrderIsTheSameOnEveryMachine) {
    EXPECT_EQ(CoreOrder(7).Of(10), (std::vector<int32_t>{8, 1, 5, 9, 0, 4, 3, 2, 6, 7}));
    EXPECT_EQ(CoreOrder(0).Of(5), (std::vector<int32_t>{2, 3, 1, 4, 0}));
}

TEST(CoreOrderTest, NoCoresHaveNoOrder) { EXPECT_TRUE(CoreOrder(3).Of(0).empty()); }

}  // namespace
}  // namespace advstep
