// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStepFlashInfer's kernels with as many pages as 32 bits count.
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

#include <gtest/gtest.h>

#include <array>

namespace advstep {
namespace {

// Two cores with a query each, of 2 and 3 pages.
class FlashInferKernelTest : public testing::Test {
 protected:
    FlashInferKernelTest() {
        AdvanceStepTiling& t = payload_.tiling.rows;
        t.coreCount = 2;
        t.rowsPerCore = t.rowsPerTile = 1;
        t.numSeqs = t.numQueries = 2;
        t.blockSize = 4;
        t.maxBlocks = t.blockTableStride = 3;
        t.math = MakeBlockMath(t.blockSize, t.maxBlocks, INT64_MAX, INT64_MAX);
        payload_.tiling.capacity = INT64_MAX;
        payload_.args.common.seqLens = lengths_.data();
        payload_.args.common.blockTables = table_.data();
        payload_.workspace = reinterpret_cast<uint8_t*>(pages_.data());
    }
    Fault Play(KernelFn phase, int32_t core) {
        Fault fault;
        phase(CoreContext{core, &fault}, &payload_);
        return fault;
    }

    std::array<int64_t, 2> lengths_ = {7, 8};
    std::array<int64_t, 6> table_ = {1, 2, 3, 4, 5, 6};
    std::array<int64_t, 2> pages_ = {-1, -1};
    AdvanceStepFlashInferPayload payload_{};
    const FlashInferKernels kernels_ = FlashInferKernelsFor(false, false, false);
};

TEST_F(FlashInferKernelTest, CoresCountTheirOwnPages) {
    EXPECT_FALSE(Play(kernels_.count, 1).found());
    EXPECT_EQ(pages_, (std::array<int64_t, 2>{-1, 3}));
    EXPECT_FALSE(Play(kernels_.count, 0).found());
    EXPECT_EQ(pages_, (std::array<int64_t, 2>{2, 3}));
}

TEST_F(FlashInferKernelTest, BadQueriesCountNoPages) {
    for (const int64_t length : {int64_t{-1}, int64_t{12}, INT64_MAX, INT64_MIN}) {
        lengths_[0] = length;
        EXPECT_FALSE(Play(kernels_.count, 0).found());
        EXPECT_EQ(pages_[0], 0) << length;
    }
}

TEST_F(FlashInferKernelTest, SumsMustFit32Bits) {
    pages_ = {INT32_MAX - 3, 0};
    EXPECT_FALSE(Play(kernels_.check, 1).found());
    pages_ = {INT32_MAX - 2, 0};
    const Fault fault = Play(kernels_.check, 1);
    EXPECT_EQ(fault.row, 1);
    EXPECT_EQ(fault.kind, static_cast<int32_t>(AdvanceStepFault::kTooManyPages));
    EXPECT_EQ(fault.values[0], int64_t{INT32_MAX} + 1);
}

}  // namespace
}  // namespace advstep
