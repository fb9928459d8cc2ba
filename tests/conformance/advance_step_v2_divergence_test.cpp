// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_ON_DIVERGENCE: calls of AdvanceStepV2 whose result differs from exact's.
#include <gtest/gtest.h>

#include "conformance/advance_step_v2_edges.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace v2_divergence {
namespace {

using namespace conformance;
using conformance::GoodData;
using support::IsOk;
using support::OpBatch;

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
}  // namespace v2_divergence
