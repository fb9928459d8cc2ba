// SPDX-License-Identifier: Apache-2.0
// Tests of slots: block times block size plus offset, and overflow.

#include "op_kernel/common/slot.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/table.h"
#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

using unit::kMost64;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct SlotCase {
    const char* name;
    int64_t block, blockSize, place;  // place: of the token in its block
    bool fits;
    int64_t wrapped;
};

class SlotTest : public testing::TestWithParam<SlotCase> {};

TEST_P(SlotTest, IsBlockTimesBlockSizePlusPlace) {
    const SlotCase& c = GetParam();
    int64_t slot = 0;
    ASSERT_EQ(SlotIn(c.block, c.blockSize, c.place, &slot), c.fits);
    if (c.fits) {
        EXPECT_EQ(slot, c.wrapped);
    }
    EXPECT_EQ(WrappingSlot(c.block, c.blockSize, c.place), c.wrapped);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SlotTest,
    testing::Values(SlotCase{"First", 0, 16, 0, true, 0}, SlotCase{"Inside", 7, 16, 3, true, 115},
                    SlotCase{"BlockSizeOne", 9, 1, 0, true, 9},
                    SlotCase{"BeyondInt32", int64_t{1} << 30, 128, 127, true,
                             (int64_t{1} << 37) + 127},
                    SlotCase{"Largest", kMost64 / 2, 2, 1, true, kMost64},
                    SlotCase{"LargestBlockSize", 1, kMost64, 0, true, kMost64},
                    SlotCase{"SumOverflows", 1, kMost64, 1, false, kLeast},
                    SlotCase{"ProductOverflows", int64_t{1} << 62, 2, 0, false, kLeast},
                    SlotCase{"ProductWrapsAround", int64_t{1} << 62, 4, 5, false, 5},
                    SlotCase{"NegativeBlock", -2, 16, 3, true, -29},
                    SlotCase{"NegativePlace", 1, 4, -1, true, 3}),
    support::CaseName());

}  // namespace
}  // namespace advstep
