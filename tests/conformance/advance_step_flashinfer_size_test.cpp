// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer on every number of cores, at the sizes at which tiles fill, and over many
// launches of one executor.
#include <gtest/gtest.h>

#include <string>

#include "support/advance_step_flashinfer_batch.h"
#include "support/runtime_test.h"

namespace {

using reference::AdvanceStepData;
using reference::FlashInferData;
using support::IsOk;
using support::OpBatch;

class FlashInferSizeTest : public support::DeviceTest {};

// Every number of cores, so every place for a core's first query.
TEST_F(FlashInferSizeTest, OnEveryNumberOfCores) {
    const AdvanceStepData rows = support::MakeBatch(97, 90, 4, 9, 5);
    const FlashInferData data = support::MakeFlashInferData(rows, 0);
    FlashInferData expected = data;
    ASSERT_FALSE(reference::AdvanceStepFlashInfer(expected));
    for (int cores = 1; cores <= 48; ++cores) {
        for (const char* threads : {"1", "4"}) {
            SCOPED_TRACE(testing::Message() << cores << " cores, threads " << threads);
            ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:" + std::to_string(cores)},
                                             {"ADVANCE_STEP_THREADS", threads},
                                             {"ADVANCE_STEP_CORE_ORDER", std::to_string(cores)}}));
            OpBatch batch = support::MakeFlashInferBatch(data);
            ASSERT_TRUE(IsOk(batch.Run(nullptr)));
            ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
        }
    }
}

// Tiles of 3072 rows of 64 bytes.
TEST_F(FlashInferSizeTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t seqs : {3071, 3072, 3073, 6144, 6145}) {
        for (const int64_t queries : {seqs, seqs - 1, seqs / 2}) {
            FlashInferData data =
                support::MakeFlashInferData(support::MakeBatch(seqs, queries, 16, 3, 7), 2);
            OpBatch batch = support::MakeFlashInferBatch(data);
            ASSERT_TRUE(IsOk(batch.Run(nullptr)));
            ASSERT_FALSE(reference::AdvanceStepFlashInfer(data));
            ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
        }
    }
}

TEST_F(FlashInferSizeTest, ARepeatedExecutor) {
    AdvanceStepData rows = support::MakeBatch(64, 50, 8, 30, 9);
    for (int64_t& length : rows.seqLens) {
        length %= 20;
    }
    FlashInferData data = support::MakeFlashInferData(rows, 50 * 30);
    const support::Stream stream = support::MakeStream();
    OpBatch batch = support::MakeFlashInferBatch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int step = 0; step < 200; ++step) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepFlashInfer(data));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
