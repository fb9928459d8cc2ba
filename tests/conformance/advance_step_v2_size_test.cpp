// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 at the sizes at which cores and tiles fill, and steps that follow each other.
#include <gtest/gtest.h>

#include "support/advance_step_v2_batch.h"
#include "support/runtime_test.h"

namespace {

using reference::AdvanceStepV2Data;
using support::IsOk;
using support::OpBatch;

class V2SizeTest : public support::DeviceTest {};

// Around the sizes at which a core gets one row more, and a tile (3510 rows of 56 bytes) is full.
TEST_F(V2SizeTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t rows : {3510, 7020}) {
        for (const int64_t specNum : {1, 2, 4, 128}) {
            for (const int64_t seqs : {rows / (specNum + 1), rows / (specNum + 1) + 1}) {
                AdvanceStepV2Data data = support::MakeV2Data(seqs, specNum, 16, 2, 3);
                OpBatch batch = support::MakeV2Batch(data);
                ASSERT_TRUE(IsOk(batch.Run(nullptr)));
                ASSERT_FALSE(reference::AdvanceStepV2(data, false));
                ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
            }
        }
    }
}

TEST_F(V2SizeTest, AMillionSequences) {
    AdvanceStepV2Data data = support::MakeV2Data(1000000, 1, 128, 2, 9);
    support::OpLayout layout = support::Int32Layout(false, false, true);
    layout.columns = true;
    OpBatch batch = support::MakeV2Batch(data, layout);
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    ASSERT_FALSE(reference::AdvanceStepV2(data, false));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_EQ(batch.WorkspaceSize(), 0U);
}

// One stream, many steps, the positions of each being the result of the last.
TEST_F(V2SizeTest, StepsFollowEachOther) {
    const support::Stream stream = support::MakeStream();
    AdvanceStepV2Data data = support::MakeV2Data(64, 4, 8, 90, 9);
    for (size_t i = 0; i < data.inputPositions.size(); ++i) {
        data.inputPositions[i] = static_cast<int64_t>(i % 5);
    }
    OpBatch batch = support::MakeV2Batch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int step = 0; step < 100; ++step) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepV2(data, false));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
