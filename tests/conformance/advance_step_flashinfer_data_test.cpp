// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer on data at and past the edges: each data error with its message, and the
// last value that is none.
#include <gtest/gtest.h>

#include <functional>

#include "conformance/data_outcome.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace flashinfer_data {
namespace {

using reference::FlashInferData;
using namespace support;

constexpr int64_t kMost = INT32_MAX;

// 6 sequences, 4 queries, block size 4, 3 blocks each; 3, 2, 1 and 3 pages.
FlashInferData GoodData() {
    reference::AdvanceStepData rows = support::MakeBatch(6, 4, 4, 3, 1);
    rows.seqLens = {8, 7, 0, 11, -5, 99};
    return support::MakeFlashInferData(rows, 0);
}

struct DataCase {
    const char* name;
    std::function<void(FlashInferData&)> change;
    std::string message;  // "": no error
    OpLayout layout = {};
};

class FlashInferDataTest : public support::DeviceTest,
                           public testing::WithParamInterface<DataCase> {};

TEST_P(FlashInferDataTest, IsComputedOrReported) {
    for (const char* soc : {"sim:1", "sim:4"}) {
        SCOPED_TRACE(soc);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", soc}}));
        FlashInferData data = GoodData();
        GetParam().change(data);
        FlashInferData expected = data;
        const auto error = reference::AdvanceStepFlashInfer(expected, GetParam().layout.Limits());
        ASSERT_EQ(error.has_value(), !GetParam().message.empty());
        const FlashInferData good = GoodData();
        conformance::ExpectOutcome(support::MakeFlashInferBatch(data, GetParam().layout),
                                   "aclnnAdvanceStepFlashInfer", GetParam().message,
                                   support::ValuesOf(expected), support::MakeFlashInferBatch(good));
    }
}

std::function<void(FlashInferData&)> Length(size_t row, int64_t length) {
    return [=](FlashInferData& d) { d.rows.seqLens[row] = length; };
}
std::function<void(FlashInferData&)> Entry(size_t row, size_t column, int64_t block) {
    return [=](FlashInferData& d) { d.rows.blockTables[row * 3 + column] = block; };
}

// One query with a block of many tokens.
std::function<void(FlashInferData&)> LongBlock(int64_t length) {
    return [=](FlashInferData& d) {
        d.rows.blockSize = int64_t{1} << 40;
        d.rows.blockTables.assign(18, 2);
        d.rows.seqLens = {1, length, 1, 1, 0, 0};
    };
}

INSTANTIATE_TEST_SUITE_P(
    Table, FlashInferDataTest,
    testing::Values(
        DataCase{"Good", [](FlashInferData&) {}, ""},
        DataCase{"NegativePosition", Length(2, -1), "query 2: seqLens is -1; expected at least 0"},
        DataCase{"NegativePositionInt32", Length(2, -1),
                 "query 2: seqLens is -1; expected at least 0", Int32Layout(true, true, true)},
        DataCase{"ColumnOutside", Length(3, 12),
                 "query 3: position 12 with blockSize 4 needs column 3 of blockTables; expected "
                 "column < maxBlocks = 3"},
        DataCase{"LargestPosition", Length(3, INT64_MAX),
                 "query 3: position 9223372036854775807 with blockSize 4 needs column "
                 "2305843009213693951 of blockTables; expected column < maxBlocks = 3"},
        DataCase{"NegativeBlockOfTheToken", Entry(1, 1, -7),
                 "query 1: position 7 has block id -7 in column 1 of blockTables; expected at "
                 "least 0"},
        DataCase{"NegativeBlockBefore", Entry(3, 1, -1),
                 "query 3: block id -1 in column 1 of blockTables goes to pagedKvIndices; expected "
                 "0 <= block id <= 2147483647"},
        DataCase{"NegativeBlockBeforeInt32", Entry(3, 0, -1),
                 "query 3: block id -1 in column 0 of blockTables goes to pagedKvIndices; expected "
                 "0 <= block id <= 2147483647",
                 Int32Layout(false, false, true)},
        DataCase{"LargeBlockBefore", Entry(3, 1, kMost + 1),
                 "query 3: block id 2147483648 in column 1 of blockTables goes to pagedKvIndices; "
                 "expected 0 <= block id <= 2147483647"},
        DataCase{"LargeBlockOfTheToken", Entry(2, 0, kMost + 1),
                 "query 2: block id 2147483648 in column 0 of blockTables goes to pagedKvIndices; "
                 "expected 0 <= block id <= 2147483647"},
        DataCase{"LargestBlock", Entry(2, 0, kMost), ""},
        DataCase{"BlocksBehindAreNotRead",
                 [](FlashInferData& d) {
                     Entry(1, 2, -1)(d);
                     Entry(2, 1, INT64_MAX)(d);
                 },
                 ""},
        DataCase{"PaddingIsNotRead",
                 [](FlashInferData& d) {
                     Entry(4, 0, -1)(d);
                     Entry(5, 0, INT64_MAX)(d);
                 },
                 ""},
        DataCase{
            "SlotTooLarge", Entry(0, 2, INT64_MAX / 4 + 1),
            "query 0: position 8 in block 2305843009213693952 with blockSize 4 has a slot that "
            "does not fit slotMapping's dtype; expected a smaller block id"},
        DataCase{"SlotTooLargeInt32", Entry(0, 2, kMost / 4 + 1),
                 "query 0: position 8 in block 536870912 with blockSize 4 has a slot that does not "
                 "fit slotMapping's dtype; expected a smaller block id",
                 Int32Layout(false, true, true)},
        DataCase{"LengthTooLargeInt32",
                 [](FlashInferData& d) {
                     LongBlock(kMost)(d);
                     d.rows.blockTables.assign(18, 0);
                 },
                 "query 1: seqLens is 2147483647; expected one more to fit its dtype",
                 Int32Layout(true, false, false)},
        DataCase{"LongestPage", LongBlock(kMost - 1), ""},
        DataCase{"PageTooLong", LongBlock(kMost),
                 "query 1: its last block has 2147483648 tokens; expected at most 2147483647 for "
                 "pagedKvLastPageLen"},
        DataCase{"OneEntryTooFew", [](FlashInferData& d) { d.pagedKvIndices.pop_back(); },
                 "query 3: 9 block ids up to it; expected at most the capacity of pagedKvIndices = "
                 "8"},
        DataCase{"TooFewForTheSecond", [](FlashInferData& d) { d.pagedKvIndices.resize(4); },
                 "query 1: 5 block ids up to it; expected at most the capacity of pagedKvIndices = "
                 "4"},
        DataCase{"NoCapacity", [](FlashInferData& d) { d.pagedKvIndices.clear(); },
                 "query 0: 3 block ids up to it; expected at most the capacity of pagedKvIndices = "
                 "0"},
        DataCase{"TooFewBeforeABadQuery",
                 [](FlashInferData& d) {
                     d.pagedKvIndices.resize(4);
                     Length(3, -1)(d);
                 },
                 "query 1: 5 block ids up to it; expected at most the capacity of pagedKvIndices = "
                 "4"},
        DataCase{"ABadQueryBeforeTooFew",
                 [](FlashInferData& d) {
                     d.pagedKvIndices.resize(4);
                     Length(0, -1)(d);
                 },
                 "query 0: seqLens is -1; expected at least 0"},
        DataCase{"OldArraysDoNotMatter",
                 [](FlashInferData& d) {
                     d.pagedKvIndptr.assign(7, INT32_MIN);
                     d.pagedKvLastPageLen.assign(6, kMost);
                     d.blockTableBound.assign(6, kMost);
                 },
                 ""}),
    support::CaseName());

class FlashInferSettingsTest : public support::DeviceTest {};

// Its rows are those of conformance vllm, which the detector would find different from exact's.
TEST_F(FlashInferSettingsTest, DivergencesAreNotLookedFor) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        ASSERT_NO_FATAL_FAILURE(Restart(
            {{"ADVANCE_STEP_CONFORMANCE", conformance}, {"ADVANCE_STEP_ON_DIVERGENCE", "error"}}));
        FlashInferData data = GoodData();
        OpBatch batch = support::MakeFlashInferBatch(data);
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        ASSERT_FALSE(reference::AdvanceStepFlashInfer(data));
        EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    }
}

}  // namespace
}  // namespace flashinfer_data
