// SPDX-License-Identifier: Apache-2.0
// Tests of a token's place: the place, or the first fault.

#include "op_kernel/advance_step/token_place.h"

#include <gtest/gtest.h>

#include "support/table.h"

namespace advstep {
namespace {

constexpr int64_t kPlaceTable[] = {4, -1, INT64_MAX, INT32_MAX / 4};
constexpr int64_t kColumns = 4;

struct PlaceCase {
    const char* name;
    int64_t position;
    int64_t blockSize;
    AdvanceStepFault wide;    // lengths and slots in 64 bits
    AdvanceStepFault narrow;  // in 32 bits
    TokenPlace place = {};    // where wide finds none
};

constexpr auto kNoPlace = AdvanceStepFault::kNone;

class TokenPlaceTest : public testing::TestWithParam<PlaceCase> {};

TEST_P(TokenPlaceTest, FindsThePlaceOrTheFirstThingWrong) {
    const PlaceCase& c = GetParam();
    TokenPlace place;
    place.position = c.position;
    EXPECT_EQ((PlaceToken<CheckedArithmetic<int32_t, int32_t>>(kPlaceTable, kColumns, c.blockSize,
                                                               &place)),
              c.narrow);
    place = {};
    place.position = c.position;
    EXPECT_EQ((PlaceToken<CheckedArithmetic<int64_t, int64_t>>(kPlaceTable, kColumns, c.blockSize,
                                                               &place)),
              c.wide);
    if (c.wide == kNoPlace) {
        EXPECT_EQ(place.column, c.place.column);
        EXPECT_EQ(place.block, c.place.block);
        EXPECT_EQ(place.length, c.place.length);
        EXPECT_EQ(place.slot, c.place.slot);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, TokenPlaceTest,
    testing::Values(PlaceCase{"First", 0, 4, kNoPlace, kNoPlace, {0, 0, 4, 1, 16}},
                    PlaceCase{"LastOfABlock", 3, 4, kNoPlace, kNoPlace, {3, 0, 4, 4, 19}},
                    PlaceCase{"Negative", -1, 4, AdvanceStepFault::kNegativePosition,
                              AdvanceStepFault::kNegativePosition},
                    PlaceCase{"PastTheTable", 16, 4, AdvanceStepFault::kColumnOutside,
                              AdvanceStepFault::kColumnOutside},
                    PlaceCase{"NoBlock", 7, 4, AdvanceStepFault::kNegativeBlock,
                              AdvanceStepFault::kNegativeBlock},
                    PlaceCase{"SlotPast64Bits", 8, 4, AdvanceStepFault::kSlotTooLarge,
                              AdvanceStepFault::kSlotTooLarge},
                    PlaceCase{"LargestSlotOf32Bits",
                              15,
                              4,
                              kNoPlace,
                              kNoPlace,
                              {15, 3, INT32_MAX / 4, 16, INT32_MAX}},
                    PlaceCase{"SlotPast32Bits",
                              18,
                              5,
                              kNoPlace,
                              AdvanceStepFault::kSlotTooLarge,
                              {18, 3, INT32_MAX / 4, 19, int64_t{INT32_MAX / 4} * 5 + 3}},
                    PlaceCase{"LengthPast32Bits", INT32_MAX, INT64_MAX,
                              AdvanceStepFault::kSlotTooLarge, AdvanceStepFault::kLengthTooLarge},
                    PlaceCase{"LengthPast64Bits", INT64_MAX, INT64_MAX,
                              AdvanceStepFault::kNegativeBlock, AdvanceStepFault::kNegativeBlock}),
    support::CaseName());

}  // namespace
}  // namespace advstep
