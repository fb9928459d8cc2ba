// SPDX-License-Identifier: Apache-2.0
// AdvanceStep on data at and past the edges: each data error, and the last value that is none.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using reference::AdvanceStepData;
using namespace support;

// 6 sequences, 4 queries, block size 4, 3 blocks each, no fault.
AdvanceStepData GoodData() { return support::MakeBatch(6, 4, 4, 3, 1); }

struct DataCase {
    const char* name;
    std::string conformance;
    std::function<void(AdvanceStepData&)> change;
    long long query = -1;                // the bad one; -1: none
    std::vector<long long> values = {};  // that the message names
    support::OpLayout layout = {};
    std::string soc = "sim:3";
};

class DataTest : public support::DeviceTest, public testing::WithParamInterface<DataCase> {
 protected:
    void Start() {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", GetParam().conformance},
                                         {"ADVANCE_STEP_SOC", GetParam().soc}}));
    }
    static AdvanceStepData Data() {
        AdvanceStepData data = GoodData();
        GetParam().change(data);
        return data;
    }
    static AdvanceStepData After(const AdvanceStepData& data) {
        if (GetParam().conformance == "exact") {
            return support::AdvancedExactly(data, std::stoi(GetParam().soc.substr(4)));
        }
        return support::Advanced(data);
    }
};

class BadDataTest : public DataTest {};

TEST_P(BadDataTest, IsReportedAndWritesNothing) {
    ASSERT_NO_FATAL_FAILURE(Start());
    const support::Stream stream = support::MakeStream();
    AdvanceStepBatch bad(Data(), GetParam().layout);
    AdvanceStepBatch good(GoodData(), GetParam().layout);
    ASSERT_TRUE(IsOk(bad.Plan()));
    ASSERT_TRUE(IsOk(good.Plan()));
    ASSERT_TRUE(IsOk(bad.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(good.Launch(stream.Get())));
    const int status = aclrtSynchronizeStream(stream.Get());
    const std::string message = support::TakeMessage();
    EXPECT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_TRUE(support::NamesQuery(message, GetParam().query));
    for (const long long value : GetParam().values) {
        EXPECT_TRUE(support::HasNumber(message, value)) << value << " is not in: " << message;
    }
    EXPECT_TRUE(bad.IsUntouched());
    EXPECT_TRUE(good.Holds(After(GoodData()))) << "later work goes on";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "reported once";
}

class EdgeDataTest : public DataTest {};

TEST_P(EdgeDataTest, IsComputed) {
    ASSERT_NO_FATAL_FAILURE(Start());
    AdvanceStepBatch batch(Data(), GetParam().layout);
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    EXPECT_TRUE(batch.Holds(After(batch.Data())));
}

// Sets the length of one row, and block and column where the row reads its block.
std::function<void(AdvanceStepData&)> Length(size_t row, int64_t length) {
    return [=](AdvanceStepData& d) { d.seqLens[row] = length; };
}
std::function<void(AdvanceStepData&)> Slot(size_t row, int64_t length, int64_t block,
                                           int64_t blockSize = 4) {
    return [=](AdvanceStepData& d) {
        if (blockSize != d.blockSize) {
            d.blockSize = blockSize;
            d.seqLens = {0, 1, 2, 3, 4, 5};
            d.blockTables.assign(18, 0);
        }
        d.seqLens[row] = length;
        d.blockTables[row * 3 + length / blockSize] = block;
    };
}

std::vector<DataCase> BadCases(const std::string& conformance) {
    const int64_t huge = INT64_MAX;
    return {
        {"PositionMinusOne", conformance, Length(2, -1), 2, {-1}},
        {"PositionLeast", conformance, Length(0, INT64_MIN), 0, {INT64_MIN}},
        {"PositionOfTheLastQuery", conformance, Length(3, -7), 3, {-7}},
        {"ColumnJustPastTheTable", conformance, Length(1, 12), 1, {12}},
        {"ColumnFarPastTheTable", conformance, Length(1, huge), 1, {huge}},
        {"BlockMinusOne", conformance, Slot(3, 5, -1), 3, {-1}},
        {"BlockLeast", conformance, Slot(3, 11, INT64_MIN), 3, {INT64_MIN}},
        {"LengthPastInt64", conformance, Slot(1, huge, 0, huge), 1, {huge}},
        {"SlotPastInt64", conformance, Slot(2, 5, huge / 4 + 1), 2, {huge / 4 + 1}},
        {"SlotPastInt64ByItsRemainder", conformance, Slot(2, 8, huge / 5, 5), 2, {huge / 5}},
        {"LowestOfSeveral",
         conformance,
         [](AdvanceStepData& d) {
             d.seqLens[3] = -4;
             d.seqLens[1] = 99;
             d.blockTables[2 * 3] = d.blockTables[2 * 3 + 1] = d.blockTables[2 * 3 + 2] = -5;
         },
         1,
         {99}},
        {"NegativeBlockInAnInt32Table",
         conformance,
         Slot(3, 5, -1),
         3,
         {-1},
         Int32Layout(false, false, true)},
    };
}

INSTANTIATE_TEST_SUITE_P(Standard, BadDataTest, testing::ValuesIn(BadCases("standard")),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Vllm, BadDataTest, testing::ValuesIn(BadCases("vllm")),
                         support::CaseName());

constexpr int64_t kInt32Max = INT32_MAX;

INSTANTIATE_TEST_SUITE_P(VllmInt32, BadDataTest,
                         testing::Values(DataCase{"LengthPastInt32",
                                                  "vllm",
                                                  Slot(1, kInt32Max, 0, 1 << 30),
                                                  1,
                                                  {kInt32Max},
                                                  Int32Layout(true, false, false)},
                                         DataCase{"PositionMinusOne",
                                                  "vllm",
                                                  Length(2, -1),
                                                  2,
                                                  {-1},
                                                  Int32Layout(true, false, false)},
                                         DataCase{"SlotPastInt32",
                                                  "vllm",
                                                  Slot(1, 4, (kInt32Max + 1) / 4),
                                                  1,
                                                  {(kInt32Max + 1) / 4},
                                                  Int32Layout(false, true, false)},
                                         DataCase{"SlotFarPastInt32",
                                                  "vllm",
                                                  Slot(0, 4, INT64_MAX / 8),
                                                  0,
                                                  {INT64_MAX / 8},
                                                  Int32Layout(false, true, false)}),
                         support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Exact, BadDataTest,
    testing::Values(
        DataCase{"IndexJustPastTheTable", "exact", Length(1, 72), 1, {72, 18}},
        DataCase{
            "IndexFarPastTheTable", "exact", Length(2, INT64_MAX), 2, {INT64_MAX, INT64_MAX / 4}},
        DataCase{"IndexMinusOne", "exact", Length(0, -4), 0, {-4, -1}},
        DataCase{"IndexLeast", "exact", Length(0, INT64_MIN), 0, {INT64_MIN, INT64_MIN / 4}},
        DataCase{"LowestOfSeveral",
                 "exact",
                 [](AdvanceStepData& d) { d.seqLens = {1, 99, -50, 1, 1, 1}; },
                 1,
                 {99, 24}}),
    support::CaseName());

std::vector<DataCase> EdgeCases(const std::string& conformance) {
    const int64_t huge = INT64_MAX;
    return {
        {"PositionZero", conformance, Slot(0, 0, 0)},
        {"LastSlotOfTheTable", conformance, Slot(3, 11, 7)},
        {"BlockZero", conformance, Slot(2, 5, 0)},
        {"LargestLength", conformance, Slot(1, huge - 1, 0, huge)},
        {"LargestSlot", conformance, Slot(1, 7, huge / 4)},
        {"LargestSlotByItsRemainder", conformance, Slot(2, 7, huge / 5, 5)},
        {"PaddingIsNotRead", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[4] = -1;
             d.seqLens[5] = INT64_MAX;
             d.blockTables[4 * 3] = d.blockTables[5 * 3] = -1;
         }},
        {"OtherColumnsAreNotRead", conformance,
         [](AdvanceStepData& d) {
             d.seqLens[0] = 5;
             d.blockTables[0] = d.blockTables[2] = -1;
         }},
        {"OldOutputsDoNotMatter", conformance,
         [](AdvanceStepData& d) {
             d.inputPositions.assign(6, INT64_MIN);
             d.slotMapping.assign(6, INT64_MAX);
             d.inputTokens.assign(6, -1);
         }},
        {"AnyTokenIsTaken", conformance,
         [](AdvanceStepData& d) {
             d.sampledTokenIds = {-1, INT64_MIN, INT64_MAX, 0};
         }},
    };
}

INSTANTIATE_TEST_SUITE_P(Standard, EdgeDataTest, testing::ValuesIn(EdgeCases("standard")),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Vllm, EdgeDataTest, testing::ValuesIn(EdgeCases("vllm")),
                         support::CaseName());

INSTANTIATE_TEST_SUITE_P(VllmInt32, EdgeDataTest,
                         testing::Values(DataCase{"LargestLength",
                                                  "vllm",
                                                  Slot(1, kInt32Max - 1, 0, 1 << 30),
                                                  -1,
                                                  {},
                                                  Int32Layout(true, false, false)},
                                         DataCase{"LargestSlot",
                                                  "vllm",
                                                  Slot(1, 7, kInt32Max / 4),
                                                  -1,
                                                  {},
                                                  Int32Layout(false, true, false)},
                                         DataCase{"SlotPastInt32InAnInt64Tensor",
                                                  "vllm",
                                                  Slot(1, 7, kInt32Max),
                                                  -1,
                                                  {},
                                                  Int32Layout(true, false, true)}),
                         support::CaseName());

INSTANTIATE_TEST_SUITE_P(
    Exact, EdgeDataTest,
    testing::Values(DataCase{"LastEntryOfTheTable", "exact", Length(1, 71)},
                    DataCase{"PositionMinusOneReadsTheFirst", "exact", Length(2, -1)},
                    DataCase{"PositionMinusThree", "exact", Length(0, -3)},
                    DataCase{"NegativeBlock", "exact",
                             [](AdvanceStepData& d) { d.blockTables.assign(18, -1); }},
                    DataCase{"SlotWraps", "exact",
                             [](AdvanceStepData& d) { d.blockTables.assign(18, INT64_MAX); }},
                    DataCase{"LeastBlockWraps", "exact",
                             [](AdvanceStepData& d) { d.blockTables.assign(18, INT64_MIN); }},
                    DataCase{"LengthWraps", "exact", Slot(1, INT64_MAX, 0, INT64_MAX)},
                    DataCase{"QueriesPastTheCoresAreNotRead", "exact", Length(3, -99)},
                    DataCase{"OneCore",
                             "exact",
                             [](AdvanceStepData& d) { d.seqLens = {5, -9, 99, -9, -9, 99}; },
                             -1,
                             {},
                             {},
                             "sim:1"}),
    support::CaseName());

// Whatever the cores' order and number.
class MachineTest : public support::DeviceTest {};

TEST_F(MachineTest, LowestQueryIsReported) {
    for (const char* soc : {"sim:1", "sim:2", "sim:7", "sim:48"}) {
        for (const char* order : {"ascending", "1", "2", "3"}) {
            for (const char* threads : {"1", "4"}) {
                SCOPED_TRACE(std::string(soc) + " " + order + " " + threads);
                ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", soc},
                                                 {"ADVANCE_STEP_CORE_ORDER", order},
                                                 {"ADVANCE_STEP_THREADS", threads}}));
                AdvanceStepData data = support::MakeBatch(1000, 900, 16, 4, 5);
                for (const int64_t bad : {899, 700, 411, 377}) {
                    data.seqLens[bad] = -bad;
                }
                AdvanceStepBatch batch(data);
                EXPECT_TRUE(IsDataError(batch.Run(nullptr), 377, {-377}));
                EXPECT_TRUE(batch.IsUntouched());
            }
        }
    }
}

}  // namespace
