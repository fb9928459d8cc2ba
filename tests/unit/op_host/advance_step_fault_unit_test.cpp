// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStep's fault messages.

#include "op_host/advance_step/advance_step.h"

#include <gtest/gtest.h>

#include <limits>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "support/table.h"

namespace advstep {
namespace {

struct WordsCase {
    const char* name;
    AdvanceStepFault kind;
    std::vector<int64_t> values;
    const char* words;
};

class AdvanceStepFaultTest : public testing::TestWithParam<WordsCase> {};

TEST_P(AdvanceStepFaultTest, SaysQueryValuesAndExpectation) {
    AdvanceStepPayload payload{};
    payload.tiling.numSeqs = 8;
    payload.tiling.numQueries = 7;
    payload.tiling.blockSize = 16;
    payload.tiling.maxBlocks = 4;
    Fault fault;
    fault.row = 5;
    fault.kind = static_cast<int32_t>(GetParam().kind);
    std::copy(GetParam().values.begin(), GetParam().values.end(), fault.values);
    const FaultReport report = DescribeAdvanceStepFault(fault, &payload);
    EXPECT_EQ(report.code, 507035);
    EXPECT_EQ(report.message, GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepFaultTest,
    testing::Values(
        WordsCase{"NegativePosition",
                  AdvanceStepFault::kNegativePosition,
                  {-3},
                  "query 5: seqLens is -3; expected at least 0"},
        WordsCase{"ColumnOutside",
                  AdvanceStepFault::kColumnOutside,
                  {70, 4},
                  "query 5: position 70 with blockSize 16 needs column 4 of blockTables; expected "
                  "column < maxBlocks = 4"},
        WordsCase{"NegativeBlock",
                  AdvanceStepFault::kNegativeBlock,
                  {33, 2, -7},
                  "query 5: position 33 has block id -7 in column 2 of blockTables; expected at "
                  "least 0"},
        WordsCase{"LengthTooLarge",
                  AdvanceStepFault::kLengthTooLarge,
                  {2147483647},
                  "query 5: seqLens is 2147483647; expected one more to fit its dtype"},
        WordsCase{"SlotTooLarge",
                  AdvanceStepFault::kSlotTooLarge,
                  {33, 2, 134217728},
                  "query 5: position 33 in block 134217728 with blockSize 16 has a slot that does "
                  "not fit slotMapping's dtype; expected a smaller block id"},
        WordsCase{"FlatOutside",
                  AdvanceStepFault::kFlatOutside,
                  {520, 32},
                  "query 5: position 520 with blockSize 16 reads entry 32 of blockTables; expected "
                  "0 <= entry < numSeqs * maxBlocks = 32"},
        WordsCase{"Divergence",
                  AdvanceStepFault::kDivergence,
                  {17, 81},
                  "query 5: gets slot 17, and under conformance exact would get slot 81; expected "
                  "both alike"},
        WordsCase{"DivergenceWithoutSlot",
                  AdvanceStepFault::kDivergence,
                  {17, std::numeric_limits<int64_t>::min()},
                  "query 5: gets slot 17, and under conformance exact would not get a slot; "
                  "expected both alike"},
        WordsCase{"PaddingDivergence",
                  AdvanceStepFault::kPaddingDivergence,
                  {},
                  "padding row 5: is blanked, and under conformance exact would stay; expected "
                  "both alike"}),
    support::CaseName());

TEST(UnknownFaultTest, StillNamesTheRow) {
    const AdvanceStepPayload payload{};
    Fault fault;
    fault.row = 5;
    fault.kind = 99;
    EXPECT_EQ(DescribeAdvanceStepFault(fault, &payload).message, "row 5: fault 99");
}

}  // namespace
}  // namespace advstep
