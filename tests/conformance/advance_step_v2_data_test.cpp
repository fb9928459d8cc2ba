// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 on data at and past the edges: each data error with its message, the last value
// that is none, and calls whose result differs from what exact computes.
#include <gtest/gtest.h>

#include "conformance/advance_step_v2_edges.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/table.h"

namespace v2_data {
namespace {

using namespace conformance;
using conformance::GoodData;
using conformance::kInt32Max;
using support::IsOk;
using support::OpBatch;

struct DataCase {
    const char* name;
    Change change;
    std::string message;  // "": no error
};

void Expect(const DataCase& row, const std::string& conformance) {
    AdvanceStepV2Data data = GoodData();
    row.change(data);
    AdvanceStepV2Data expected = data;
    const auto error = reference::AdvanceStepV2(expected, conformance == "exact");
    ASSERT_EQ(error.has_value(), !row.message.empty());
    const support::Stream stream = support::MakeStream();
    AdvanceStepV2Data good = GoodData();
    OpBatch batch = support::MakeV2Batch(data);
    OpBatch later = support::MakeV2Batch(good);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(later.Plan()));
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(later.Launch(stream.Get())));
    const int status = aclrtSynchronizeStream(stream.Get());
    if (error) {
        EXPECT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        EXPECT_EQ(support::TakeMessage(),
                  "aclrtSynchronizeStream: aclnnAdvanceStepV2: " + row.message);
        EXPECT_TRUE(batch.IsUntouched());
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "reported once";
    } else {
        EXPECT_TRUE(IsOk(status));
        EXPECT_TRUE(batch.Holds(support::ValuesOf(expected)));
    }
    ASSERT_FALSE(reference::AdvanceStepV2(good, conformance == "exact"));
    EXPECT_TRUE(later.Holds(support::ValuesOf(good))) << "later work goes on";
}

class V2DataTest : public support::DeviceTest, public testing::WithParamInterface<DataCase> {};
class V2WideDataTest : public V2DataTest {};
class V2NarrowDataTest : public V2DataTest {};

// Whatever the conformance, on one core and on several.
TEST_P(V2DataTest, InEveryConformance) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        for (const char* soc : {"sim:1", "sim:4"}) {
            SCOPED_TRACE(std::string(conformance) + " " + soc);
            ASSERT_NO_FATAL_FAILURE(
                Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}, {"ADVANCE_STEP_SOC", soc}}));
            Expect(GetParam(), conformance);
        }
    }
}

TEST_P(V2WideDataTest, StandardAndVllm) {
    for (const char* conformance : {"standard", "vllm"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        Expect(GetParam(), conformance);
    }
}

TEST_P(V2NarrowDataTest, Exact) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}}));
    Expect(GetParam(), "exact");
}

Change Sampled(size_t query, std::vector<int64_t> tokens) {
    return [=](AdvanceStepV2Data& d) {
        std::copy(tokens.begin(), tokens.end(), d.sampledTokenIds.begin() + query * 3);
    };
}

INSTANTIATE_TEST_SUITE_P(
    Table, V2DataTest,
    testing::Values(
        DataCase{"NothingAccepted", Sampled(2, {-1, 7, 7}),
                 "query 2 (row 6): sampledTokenIds begins with -1; expected at least one token, "
                 "which is not negative"},
        DataCase{"NothingAcceptedLeast", Sampled(4, {INT64_MIN, -1, -1}),
                 "query 4 (row 12): sampledTokenIds begins with -9223372036854775808; expected at "
                 "least one token, which is not negative"},
        DataCase{"NegativePosition", At(7, -1, 0),
                 "query 2 (row 7): position is -1; expected at least 0"},
        DataCase{"ColumnOutside", At(14, 12, 0),
                 "query 4 (row 14): position 12 with blockSize 4 needs column 3 of blockTables; "
                 "expected column < maxBlocks = 3"},
        DataCase{"NegativeBlock", At(4, 9, -7),
                 "query 1 (row 4): position 9 has block id -7 in column 2 of blockTables; expected "
                 "at least 0"},
        DataCase{"LowestRowOfAQuery",
                 [](AdvanceStepV2Data& d) {
                     At(8, -1, 0)(d);
                     At(7, 99, 0)(d);
                     At(9, -4, 0)(d);
                 },
                 "query 2 (row 7): position 99 with blockSize 4 needs column 24 of blockTables; "
                 "expected column < maxBlocks = 3"},
        DataCase{"NothingAcceptedBeforePosition",
                 [](AdvanceStepV2Data& d) {
                     At(6, -1, 0)(d);
                     Sampled(2, {-5, 7, 7})(d);
                 },
                 "query 2 (row 6): sampledTokenIds begins with -5; expected at least one token, "
                 "which is not negative"},
        DataCase{"NothingAcceptedBehindABadRow",
                 [](AdvanceStepV2Data& d) {
                     At(5, -1, 0)(d);
                     Sampled(2, {-5, 7, 7})(d);
                 },
                 "query 1 (row 5): position is -1; expected at least 0"},
        DataCase{"OneToken", Sampled(1, {5, -1, -1}), ""},
        DataCase{"ATokenBehindTheEnd", Sampled(1, {5, -3, 9}), ""},
        DataCase{"AllTokens", Sampled(1, {5, 0, 9}), ""},
        DataCase{"AnyTokenIsTaken",
                 [](AdvanceStepV2Data& d) {
                     d.specToken.assign(10, INT64_MIN);
                     d.sampledTokenIds.assign(15, INT64_MAX);
                 },
                 ""},
        DataCase{"AcceptedNumIsNotJudged",
                 [](AdvanceStepV2Data& d) {
                     d.acceptedNum[0] = -5;
                     d.acceptedNum[1] = 99;
                     for (size_t row = 0; row < 3; ++row) {
                         d.inputPositions[row] = 5;
                         d.inputPositions[row + 3] = -95;
                     }
                 },
                 ""},
        DataCase{"OldLengthsAndSlotsDoNotMatter",
                 [](AdvanceStepV2Data& d) {
                     d.seqLens.assign(15, INT64_MIN);
                     d.slotMapping.assign(15, INT64_MAX);
                 },
                 ""},
        DataCase{"FirstPosition", At(0, 0, 5), ""}, DataCase{"LastPosition", At(14, 11, 5), ""},
        DataCase{"OtherColumnsAreNotRead",
                 [](AdvanceStepV2Data& d) {
                     for (const size_t row : {0, 1, 2}) {
                         At(row, 5, 7)(d);
                     }
                     d.blockTables[0] = d.blockTables[2] = -1;
                 },
                 ""}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Table, V2WideDataTest,
    testing::Values(
        DataCase{"PositionPast64Bits",
                 [](AdvanceStepV2Data& d) {
                     d.inputPositions[4] = kHuge;
                     d.inputPositions[3] = d.inputPositions[5] = 1;
                     d.acceptedNum[1] = 0;
                 },
                 "query 1 (row 4): inputPositions is 9223372036854775807 and acceptedNum 0; "
                 "expected a new position that fits 64 bits"},
        DataCase{"AcceptedPast64Bits",
                 [](AdvanceStepV2Data& d) {
                     d.acceptedNum[0] = kHuge;
                     d.inputPositions[0] = 1;
                 },
                 "query 0 (row 0): inputPositions is 1 and acceptedNum 9223372036854775807; "
                 "expected a new position that fits 64 bits"},
        DataCase{"BothBelow64Bits",
                 [](AdvanceStepV2Data& d) {  // 4, if they wrapped
                     d.acceptedNum[0] = INT64_MIN;
                     std::fill_n(d.inputPositions.begin(), 3, INT64_MIN + 3);
                 },
                 "query 0 (row 0): inputPositions is -9223372036854775805 and acceptedNum "
                 "-9223372036854775808; expected a new position that fits 64 bits"},
        DataCase{"AcceptedMostIsUndone",
                 [](AdvanceStepV2Data& d) {
                     d.acceptedNum[0] = kHuge;
                     d.inputPositions[0] = d.inputPositions[1] = d.inputPositions[2] = -kHuge;
                 },
                 ""},
        DataCase{"LengthPast64Bits", At(1, kHuge, 0, kHuge),
                 "query 0 (row 1): position is 9223372036854775807; expected one more to fit "
                 "seqLens"},
        DataCase{"SlotPast64Bits", At(2, 5, kHuge / 4 + 1),
                 "query 0 (row 2): position 5 in block 2305843009213693952 with blockSize 4 has a "
                 "slot that does not fit slotMapping's dtype; expected a smaller block id"},
        DataCase{"LargestSlot", At(2, 7, kHuge / 4), ""},
        DataCase{"LargestLength", At(1, kHuge - 1, 0, kHuge), ""},
        DataCase{"PositionPast32Bits", At(1, kTwo32, 3, kTwo32), ""},
        DataCase{"BlockPast32Bits", At(1, 5, kTwo32), ""}),
    support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Table, V2NarrowDataTest,
    testing::Values(
        DataCase{"PositionWraps", At(1, kTwo32 + 5, 3), ""},
        DataCase{"PositionWrapsToNegative", At(1, kInt32Max + 1, 0, kInt32Max),
                 "query 0 (row 1): position is -2147483648; expected at least 0"},
        DataCase{"LengthWraps", At(1, kInt32Max, 0, kInt32Max),
                 "query 0 (row 1): position is 2147483647; expected one more to fit 32 bits"},
        DataCase{"BlockWraps", At(1, 5, kTwo32 + 3), ""},
        DataCase{"BlockWrapsToNegative", At(1, 5, kInt32Max + 1),
                 "query 0 (row 1): position 5 has block id -2147483648 in column 1 of blockTables; "
                 "expected at least 0"},
        DataCase{"SlotWraps", At(1, 5, int64_t{1} << 30), ""},
        DataCase{"SlotWrapsToNegative", At(1, 5, int64_t{1} << 29),
                 "query 0 (row 1): position 5 in block 536870912 with blockSize 4 has a slot that "
                 "is negative in 32 bits; expected a smaller block id"},
        DataCase{"LargestSlot", At(1, 7, (int64_t{1} << 29) - 1), ""},
        DataCase{"AcceptedWraps",
                 [](AdvanceStepV2Data& d) {
                     d.acceptedNum[0] = kTwo32;
                     d.inputPositions[0] = d.inputPositions[1] = d.inputPositions[2] = 3;
                 },
                 ""}),
    support::CaseName());

// ADVANCE_STEP_ON_DIVERGENCE: calls of AdvanceStepV2 whose result differs from exact's.

class V2DivergenceTest : public support::DeviceTest {
 protected:
    void Start(const char* conformance, const char* reaction) {
        ASSERT_NO_FATAL_FAILURE(Restart(
            {{"ADVANCE_STEP_CONFORMANCE", conformance}, {"ADVANCE_STEP_ON_DIVERGENCE", reaction}}));
    }
    // What is logged by a run that succeeds.
    static std::string Logged(const AdvanceStepV2Data& data) {
        AdvanceStepV2Data expected = data;
        EXPECT_FALSE(reference::AdvanceStepV2(expected, false));
        OpBatch batch = support::MakeV2Batch(data);
        const support::StderrCapture capture;
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(support::ValuesOf(expected)));
        return capture.Text();
    }
    static AdvanceStepV2Data WithRefused() {
        AdvanceStepV2Data data = GoodData();
        At(10, 5, int64_t{1} << 29)(data);
        return data;
    }
    static AdvanceStepV2Data WithWrapped() {
        AdvanceStepV2Data data = GoodData();
        At(1, 5, kTwo32 + 3)(data);
        At(10, 5, int64_t{1} << 29)(data);
        return data;
    }
};

TEST_F(V2DivergenceTest, WarnLogsTheFirstRow) {
    for (const char* conformance : {"standard", "vllm"}) {
        ASSERT_NO_FATAL_FAILURE(Start(conformance, "warn"));
        EXPECT_EQ(Logged(GoodData()), "");
        EXPECT_EQ(Logged(WithRefused()),
                  "advance_step warn: aclnnAdvanceStepV2: query 3 (row 10): gets position 5 and "
                  "slot 2147483649, and under conformance exact would be refused; expected both "
                  "alike\n");
        EXPECT_EQ(Logged(WithWrapped()),
                  "advance_step warn: aclnnAdvanceStepV2: query 0 (row 1): gets position 5 and "
                  "slot 17179869197, and under conformance exact would get position 5 and slot 13; "
                  "expected both alike\n");
    }
}

// The slots alone would not tell.
TEST_F(V2DivergenceTest, PositionsAreComparedToo) {
    ASSERT_NO_FATAL_FAILURE(Start("standard", "warn"));
    // Blocks of a quarter of 2^32 tokens: position 5 after 2^32 is in column 4, and in 32 bits in
    // 0.
    AdvanceStepV2Data data = support::MakeV2Data(1, 1, int64_t{1} << 30, 5, 1);
    data.acceptedNum = {0};
    data.inputPositions = {3, kTwo32 + 4};
    data.blockTables.assign(5, 0);
    EXPECT_EQ(Logged(data),
              "advance_step warn: aclnnAdvanceStepV2: query 0 (row 1): gets position 4294967301 "
              "and slot 5, and under conformance exact would get position 5 and slot 5; expected "
              "both alike\n");
}

TEST_F(V2DivergenceTest, IgnoreAndExactSayNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("standard", "ignore"));
    EXPECT_EQ(Logged(WithWrapped()), "");
    ASSERT_NO_FATAL_FAILURE(Start("exact", "error"));
    AdvanceStepV2Data data = GoodData();
    At(1, 5, kTwo32 + 3)(data);
    OpBatch batch = support::MakeV2Batch(data);
    EXPECT_TRUE(IsOk(batch.Run(nullptr)));
}

TEST_F(V2DivergenceTest, ErrorFailsAndWritesNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("standard", "error"));
    OpBatch batch = support::MakeV2Batch(WithRefused());
    EXPECT_TRUE(support::IsDataError(batch.Run(nullptr), 3, {10}));
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_EQ(Logged(GoodData()), "");
}

}  // namespace
}  // namespace v2_data
