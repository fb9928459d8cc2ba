// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_ON_DIVERGENCE: calls whose result differs from what the Ascend kernel computes.
#include <gtest/gtest.h>

#include <utility>

#include "advance_step/counters.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace {

using reference::AdvanceStepData;
using support::AdvanceStepBatch;
using support::IsOk;

constexpr int64_t kCores = 4;

// Each row's table becomes the first one's plus maxBlocks per row.
AdvanceStepData WithTablesInARow(AdvanceStepData data) {
    for (int64_t row = 1; row < data.numSeqs; ++row) {
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables[row * data.maxBlocks + column] =
                data.blockTables[column] + data.maxBlocks * row;
        }
    }
    return data;
}

// A batch on which standard and exact agree: the tables are in a row, all queries have a core and
// there is one padding row.
AdvanceStepData AgreeingBatch() { return WithTablesInARow(support::MakeBatch(5, 4, 4, 3, 1)); }

// The lowest row that differs between the two results.
int64_t FirstDifference(const AdvanceStepData& a, const AdvanceStepData& b) {
    for (int64_t row = 0; row < a.numSeqs; ++row) {
        if (a.inputTokens[row] != b.inputTokens[row] ||
            a.inputPositions[row] != b.inputPositions[row] || a.seqLens[row] != b.seqLens[row] ||
            a.slotMapping[row] != b.slotMapping[row]) {
            return row;
        }
    }
    return -1;
}

class DivergenceTest : public support::DeviceTest, public testing::WithParamInterface<const char*> {
 protected:
    void Start(const char* reaction) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", GetParam()},
                                         {"ADVANCE_STEP_SOC", "sim:4"},
                                         {"ADVANCE_STEP_LOG", "warn"},
                                         {"ADVANCE_STEP_ON_DIVERGENCE", reaction}}));
    }
    // Runs data, which diverges first in row; returns what was logged.
    static std::string ExpectWarning(const AdvanceStepData& data, int64_t row) {
        EXPECT_EQ(FirstDifference(support::Advanced(data), support::AdvancedExactly(data, kCores)),
                  row);
        AdvanceStepBatch batch(data);
        const support::StderrCapture capture;
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(support::Advanced(data)));
        return capture.Text();
    }
    static void ExpectError(const AdvanceStepData& data, int64_t row) {
        EXPECT_EQ(FirstDifference(support::Advanced(data), support::AdvancedExactly(data, kCores)),
                  row);
        AdvanceStepBatch batch(data);
        EXPECT_EQ(batch.Run(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        const std::string message = support::TakeMessage();
        EXPECT_TRUE(support::HasNumber(message, row)) << message;
        EXPECT_TRUE(batch.IsUntouched());
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr))) << "reported once";
    }
};

AdvanceStepData OtherBlockInRow3() {
    AdvanceStepData data = AgreeingBatch();
    data.blockTables[3 * 3 + data.seqLens[3] / 4] += 1;
    return data;
}

AdvanceStepData MoreQueriesThanCores() {
    return WithTablesInARow(support::MakeBatch(8, 6, 4, 3, 2));
}

AdvanceStepData MorePaddingThanOneRow() {
    AdvanceStepData data = support::MakeBatch(7, 1, 4, 3, 3);
    return data;
}

TEST_P(DivergenceTest, IgnoreSaysNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("ignore"));
    EXPECT_EQ(ExpectWarning(OtherBlockInRow3(), 3), "");
}

TEST_P(DivergenceTest, WarnLogsTheFirstRow) {
    ASSERT_NO_FATAL_FAILURE(Start("warn"));
    EXPECT_TRUE(support::HasNumber(ExpectWarning(OtherBlockInRow3(), 3), 3));
    EXPECT_TRUE(support::HasNumber(ExpectWarning(MoreQueriesThanCores(), 4), 4));
    EXPECT_TRUE(support::HasNumber(ExpectWarning(MorePaddingThanOneRow(), 2), 2));
}

TEST_P(DivergenceTest, WarnSaysNothingWhereBothAgree) {
    ASSERT_NO_FATAL_FAILURE(Start("warn"));
    EXPECT_EQ(ExpectWarning(AgreeingBatch(), -1), "");
}

TEST_P(DivergenceTest, ErrorFailsAndWritesNothing) {
    ASSERT_NO_FATAL_FAILURE(Start("error"));
    ExpectError(OtherBlockInRow3(), 3);
    ExpectError(MoreQueriesThanCores(), 4);
    ExpectError(MorePaddingThanOneRow(), 2);
}

TEST_P(DivergenceTest, ErrorRunsWhereBothAgree) {
    ASSERT_NO_FATAL_FAILURE(Start("error"));
    AdvanceStepBatch batch(AgreeingBatch());
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    EXPECT_TRUE(batch.Holds(support::Advanced(batch.Data())));
}

TEST_P(DivergenceTest, DataErrorsStayDataErrors) {
    ASSERT_NO_FATAL_FAILURE(Start("error"));
    AdvanceStepData data = AgreeingBatch();
    data.seqLens[2] = -5;
    AdvanceStepBatch batch(data);
    EXPECT_TRUE(support::IsDataError(batch.Run(nullptr), 2, {-5}));
    EXPECT_TRUE(batch.IsUntouched());
}

INSTANTIATE_TEST_SUITE_P(Standard, DivergenceTest, testing::Values("standard"));
INSTANTIATE_TEST_SUITE_P(Vllm, DivergenceTest, testing::Values("vllm"));

class ExactDivergenceTest : public support::DeviceTest {};

// A core has one query, and every so-manieth padding row, as the reference has it.
TEST_F(ExactDivergenceTest, ExactCountsTheRowsThatItChanges) {
    for (const auto& [seqs, queries] : {std::pair{8, 6}, {7, 1}, {5, 4}, {13, 4}}) {
        ASSERT_NO_FATAL_FAILURE(
            Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}, {"ADVANCE_STEP_SOC", "sim:4"}}));
        AdvanceStepData data = support::MakeBatch(seqs, queries, 4, 3, 1);
        data.inputTokens.assign(static_cast<size_t>(seqs), -7);  // what no row is given
        const AdvanceStepData after = support::AdvancedExactly(data, kCores);
        const auto changed = [&](int64_t begin, int64_t end) {
            uint64_t rows = 0;
            for (int64_t row = begin; row < end; ++row) {
                rows += after.inputTokens[static_cast<size_t>(row)] != -7 ? 1 : 0;
            }
            return rows;
        };
        AdvanceStepBatch batch(data);
        ASSERT_TRUE(IsOk(batch.Run(nullptr)));
        AdvStepCounters counters{};
        ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
        EXPECT_EQ(counters.advanced, changed(0, queries)) << seqs << ", " << queries;
        EXPECT_EQ(counters.padded, changed(queries, seqs)) << seqs << ", " << queries;
    }
}

TEST_F(ExactDivergenceTest, ExactNeverDivergesFromItself) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"},
                                     {"ADVANCE_STEP_SOC", "sim:4"},
                                     {"ADVANCE_STEP_ON_DIVERGENCE", "error"}}));
    AdvanceStepBatch batch(MoreQueriesThanCores());
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    EXPECT_TRUE(batch.Holds(support::AdvancedExactly(batch.Data(), kCores)));
}

}  // namespace
