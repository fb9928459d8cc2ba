// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti on data at and past the edges, and its divergences.
#include <gtest/gtest.h>

#include <functional>

#include "conformance/data_outcome.h"
#include "support/advance_step_multi_batch.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/table.h"

namespace multi_data {
namespace {

using reference::AdvanceStepData;
using reference::MultiData;
using namespace support;

constexpr int64_t kHuge = INT64_MAX;
constexpr int64_t kMost = INT32_MAX;

// 3 steps of 6 sequences, 4 queries, block size 4, 3 blocks each, no fault.
MultiData GoodData() {
    return support::MakeMultiData(support::WithRoom(support::MakeBatch(6, 4, 4, 3, 1), 3), 3, 2);
}

struct DataCase {
    const char* name;
    std::string conformance;
    std::function<void(AdvanceStepData&)> change;
    std::string message;  // "": no error
    OpLayout layout = {};
};

class MultiDataTest : public support::DeviceTest, public testing::WithParamInterface<DataCase> {};

TEST_P(MultiDataTest, IsComputedOrReported) {
    for (const char* order : {"ascending", "3"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", GetParam().conformance},
                                         {"ADVANCE_STEP_SOC", "sim:3"},
                                         {"ADVANCE_STEP_CORE_ORDER", order}}));
        const int64_t exactCores = GetParam().conformance == "exact" ? 3 : 0;
        MultiData data = GoodData();
        GetParam().change(data.one);
        MultiData expected = data;
        const auto error =
            reference::AdvanceStepMulti(expected, exactCores, GetParam().layout.Limits());
        ASSERT_EQ(error.has_value(), !GetParam().message.empty());
        const MultiData good = GoodData();
        conformance::ExpectOutcome(support::MakeMultiBatch(data, GetParam().layout),
                                   "aclnnAdvanceStepMulti", GetParam().message,
                                   support::ValuesOf(expected),
                                   support::MakeMultiBatch(good, GetParam().layout));
    }
}

std::function<void(AdvanceStepData&)> Length(size_t row, int64_t length) {
    return [=](AdvanceStepData& d) { d.seqLens[row] = length; };
}
// One more for the row, and all of its blocks are `block`; other rows begin anew.
std::function<void(AdvanceStepData&)> Blocks(size_t row, int64_t length, int64_t block,
                                             int64_t blockSize) {
    return [=](AdvanceStepData& d) {
        d.blockSize = blockSize;
        d.seqLens.assign(6, 0);
        d.blockTables.assign(18, 0);
        d.seqLens[row] = length;
        d.blockTables[row * 3] = d.blockTables[row * 3 + 1] = d.blockTables[row * 3 + 2] = block;
    };
}

std::vector<DataCase> Cases(const std::string& conformance) {
    return {
        {"Good", conformance, [](AdvanceStepData&) {}, ""},
        {"NegativePosition", conformance, Length(2, -2),
         "step 0, query 2: seqLens is -2; expected at least 0"},
        {"ColumnOutsideAtOnce", conformance, Length(3, 12),
         "step 0, query 3: position 12 with blockSize 4 needs column 3 of blockTables; expected "
         "column < maxBlocks = 3"},
        {"ColumnOutsideInTheLastStep", conformance, Length(3, 10),
         "step 2, query 3: position 12 with blockSize 4 needs column 3 of blockTables; expected "
         "column < maxBlocks = 3"},
        {"LastRoom", conformance, Length(3, 9), ""},
        {"NegativeBlockInALaterStep", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[1] = 3;
             d.blockTables[1 * 3 + 1] = -1;
         },
         "step 1, query 1: position 4 has block id -1 in column 1 of blockTables; expected at "
         "least "
         "0"},
        {"FirstStepBeforeLowestQuery", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[0] = 11;
             d.seqLens[3] = 12;
         },
         "step 0, query 3: position 12 with blockSize 4 needs column 3 of blockTables; expected "
         "column < maxBlocks = 3"},
        {"LowestQueryOfAStep", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[2] = 11;
             d.seqLens[1] = 11;
         },
         "step 1, query 1: position 12 with blockSize 4 needs column 3 of blockTables; expected "
         "column < maxBlocks = 3"},
        {"LengthPast64Bits", conformance, Blocks(1, kHuge - 1, 0, kHuge),
         "step 1, query 1: seqLens is 9223372036854775807; expected one more to fit its dtype"},
        {"LargestSlot", conformance, Blocks(1, 6, kHuge / 4, 4), ""},
        {"SlotPast64BitsByItsRemainder", conformance, Blocks(2, 6, kHuge / 5, 5),
         "step 2, query 2: position 8 in block 1844674407370955161 with blockSize 5 has a slot "
         "that "
         "does not fit slotMapping's dtype; expected a smaller block id"},
        {"PaddingBesideALargeSlotIsNotRead", conformance,
         [](AdvanceStepData& d) {
             Blocks(3, 5, kHuge / 5, 5)(d);  // some slots of such a block would not fit
             d.seqLens[4] = -1;
         },
         ""},
        {"PaddingIsNotRead", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[4] = -1;
             d.seqLens[5] = kHuge;
         },
         ""},
    };
}

INSTANTIATE_TEST_SUITE_P(Standard, MultiDataTest, testing::ValuesIn(Cases("standard")),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Vllm, MultiDataTest, testing::ValuesIn(Cases("vllm")),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(
    VllmInt32, MultiDataTest,
    testing::Values(
        DataCase{"LengthPastInt32", "vllm", Blocks(1, kMost - 2, 0, kMost),
                 "step 2, query 1: seqLens is 2147483647; expected one more to fit its dtype",
                 Int32Layout(true, true, false)},
        DataCase{"LargestLength", "vllm", Blocks(1, kMost - 3, 0, kMost), "",
                 Int32Layout(true, true, false)},
        DataCase{"SlotPastInt32", "vllm", Blocks(1, 6, kMost / 5, 5),
                 "step 2, query 1: position 8 in block 429496729 with blockSize 5 has a slot that "
                 "does not fit slotMapping's dtype; expected a smaller block id",
                 Int32Layout(true, true, false)}),
    support::CaseName());
INSTANTIATE_TEST_SUITE_P(
    Exact, MultiDataTest,
    testing::Values(
        DataCase{"Good", "exact", [](AdvanceStepData&) {}, ""},
        DataCase{"FlatOutsideInALaterStep", "exact", Length(2, 71),
                 "step 1, query 2: position 72 with blockSize 4 reads entry 18 of blockTables; "
                 "expected 0 <= entry < numSeqs * maxBlocks = 18"},
        DataCase{"FromNegativePositions", "exact", Length(1, -3), ""},
        DataCase{"QueriesPastTheCoresAreNotRead", "exact", Length(3, -99), ""},
        DataCase{"LengthWraps", "exact", Blocks(1, kHuge - 2, 0, kHuge), ""},
        DataCase{"WrappedLength", "exact", Blocks(1, kHuge, 0, int64_t{1} << 61),
                 "step 1, query 1: position -9223372036854775808 with blockSize "
                 "2305843009213693952 reads entry -4 of blockTables; expected 0 <= entry < numSeqs "
                 "* maxBlocks = 18"}),
    support::CaseName());

class MultiDivergenceTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCores = 4;

    void Start(const char* reaction) {
        ASSERT_NO_FATAL_FAILURE(
            Restart({{"ADVANCE_STEP_SOC", "sim:4"}, {"ADVANCE_STEP_ON_DIVERGENCE", reaction}}));
    }
    // On which standard and exact agree: each row's table is the first one's plus maxBlocks per
    // row, all queries have a core and there is one padding row.
    static MultiData Agreeing() {
        MultiData data =
            support::MakeMultiData(support::WithRoom(support::MakeBatch(5, 4, 4, 3, 1), 3), 3, 2);
        for (int64_t row = 1; row < 5; ++row) {
            for (int64_t column = 0; column < 3; ++column) {
                data.one.blockTables[row * 3 + column] = data.one.blockTables[column] + 3 * row;
            }
        }
        return data;
    }
    static std::string Logged(const MultiData& data) {
        MultiData expected = data;
        EXPECT_FALSE(reference::AdvanceStepMulti(expected, 0));
        OpBatch batch = support::MakeMultiBatch(data);
        const support::StderrCapture capture;
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(support::ValuesOf(expected)));
        return capture.Text();
    }
    // Query 2 goes to a block of its own in step 1, query 3 in step 2.
    static MultiData LaterSteps() {
        MultiData data = Agreeing();
        data.one.seqLens[2] = 3;
        data.one.seqLens[3] = 2;
        data.one.blockTables[2 * 3 + 1] = 1000;
        data.one.blockTables[3 * 3 + 1] = 1000;
        return data;
    }
};

TEST_F(MultiDivergenceTest, WarnLogsTheFirstStepAndRow) {
    ASSERT_NO_FATAL_FAILURE(Start("warn"));
    EXPECT_EQ(Logged(Agreeing()), "");
    const std::string text = Logged(LaterSteps());
    EXPECT_NE(text.find("aclnnAdvanceStepMulti: step 1, query 2: gets slot 4000, and under "
                        "conformance exact would get slot "),
              std::string::npos)
        << text;
}

// Each step is a call of its own: in the later ones the padding of the first has been blanked.
TEST_F(MultiDivergenceTest, PaddingIsComparedStepByStep) {
    ASSERT_NO_FATAL_FAILURE(Start("warn"));
    MultiData data =
        support::MakeMultiData(support::WithRoom(support::MakeBatch(3, 1, 4, 3, 1), 2), 2, 2);
    data.one.inputTokens[2] = data.one.inputPositions[2] = 0;
    data.slotMapping[2] = -1;
    EXPECT_EQ(Logged(data),
              "advance_step warn: aclnnAdvanceStepMulti: step 1, padding row 2: is blanked, and "
              "under conformance exact would stay; expected both alike\n");
    data.slotMapping[5] = -1;
    EXPECT_EQ(Logged(data), "");
    data.one.inputTokens[2] = 4;
    EXPECT_EQ(Logged(data),
              "advance_step warn: aclnnAdvanceStepMulti: step 0, padding row 2: is blanked, and "
              "under conformance exact would stay; expected both alike\n");
}

TEST_F(MultiDivergenceTest, ErrorFailsAndWritesNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("error"));
    OpBatch batch = support::MakeMultiBatch(LaterSteps());
    EXPECT_TRUE(support::IsDataError(batch.Run(nullptr), 2, {1, 4000}));
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_EQ(Logged(Agreeing()), "");
}

TEST_F(MultiDivergenceTest, IgnoreSaysNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("ignore"));
    EXPECT_EQ(Logged(LaterSteps()), "");
}

}  // namespace
}  // namespace multi_data
