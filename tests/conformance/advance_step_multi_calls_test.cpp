// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti against as many calls of AdvanceStep, at the sizes at which tiles fill, and over
// many launches of one executor.
#include <gtest/gtest.h>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/counters.h"
#include "support/advance_step_multi_batch.h"
#include "support/runtime_test.h"

namespace {

using reference::AdvanceStepData;
using reference::MultiData;
using support::IsOk;
using support::OpBatch;

class MultiCallsTest : public support::DeviceTest {
 protected:
    // One step by a call of AdvanceStep with views of the same memory.
    static void RunStep(const OpBatch& batch, const MultiData& data, int64_t step) {
        const AdvanceStepData& one = data.one;
        const auto tensor = [&](size_t index, std::vector<int64_t> shape, int64_t offset) {
            support::TensorSpec spec{std::move(shape), batch.Address(index)};
            spec.offset = offset;
            return support::Tensor(spec);
        };
        const int64_t seqs = one.numSeqs;
        const support::Tensor tensors[] = {
            tensor(0, {seqs}, 0),           tensor(1, {one.numQueries, 1}, step * one.numQueries),
            tensor(2, {seqs}, 0),           tensor(3, {seqs}, 0),
            tensor(4, {seqs}, step * seqs), tensor(5, {seqs, one.maxBlocks}, 0)};
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_TRUE(IsOk(aclnnAdvanceStepGetWorkspaceSize(
            tensors[0].Get(), tensors[1].Get(), tensors[2].Get(), tensors[3].Get(),
            tensors[4].Get(), tensors[5].Get(), seqs, one.numQueries, one.blockSize, &workspaceSize,
            &executor)));
        ASSERT_TRUE(IsOk(aclnnAdvanceStep(nullptr, 0, executor, nullptr)));
    }
    static AdvStepCounters Counters() {
        AdvStepCounters counters{};
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_TRUE(IsOk(advstepReadCounters(0, &counters)));
        EXPECT_TRUE(IsOk(advstepResetCounters(0)));
        return counters;
    }
};

TEST_F(MultiCallsTest, OneCallIsAsManyOfAdvanceStep) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        const MultiData data = support::MakeMultiData(
            support::WithRoom(support::MakeBatch(150, 100, 4, 9, 3), 25), 25, 4);
        OpBatch multi = support::MakeMultiBatch(data);
        ASSERT_TRUE(IsOk(multi.Run(nullptr)));
        const AdvStepCounters atOnce = Counters();
        OpBatch single = support::MakeMultiBatch(data);
        for (int64_t step = 0; step < 25; ++step) {
            ASSERT_NO_FATAL_FAILURE(RunStep(single, data, step));
        }
        const AdvStepCounters oneByOne = Counters();
        EXPECT_EQ(atOnce.advanced, oneByOne.advanced);
        EXPECT_EQ(atOnce.padded, oneByOne.padded);
        EXPECT_EQ(atOnce.launches, 1U);
        EXPECT_EQ(oneByOne.launches, 25U);
        MultiData expected = data;
        ASSERT_FALSE(reference::AdvanceStepMulti(expected, conformance[0] == 'e' ? 40 : 0));
        EXPECT_TRUE(multi.Holds(support::ValuesOf(expected)));
        EXPECT_TRUE(single.Holds(support::ValuesOf(expected)));
    }
}

// Tiles of 4096 rows.
TEST_F(MultiCallsTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t seqs : {4095, 4096, 4097, 8192, 8193}) {
        MultiData data = support::MakeMultiData(
            support::WithRoom(support::MakeBatch(seqs, seqs - 7, 16, 3, 3), 3), 3, 4);
        OpBatch batch = support::MakeMultiBatch(data);
        ASSERT_TRUE(IsOk(batch.Run(nullptr)));
        ASSERT_FALSE(reference::AdvanceStepMulti(data, 0));
        ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
    }
}

TEST_F(MultiCallsTest, ARepeatedExecutor) {
    MultiData data =
        support::MakeMultiData(support::WithRoom(support::MakeBatch(60, 50, 8, 30, 3), 200), 10, 4);
    const support::Stream stream = support::MakeStream();
    OpBatch batch = support::MakeMultiBatch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_EQ(batch.WorkspaceSize(), 0U);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int run = 0; run < 20; ++run) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepMulti(data, 0));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
