// SPDX-License-Identifier: Apache-2.0
// Step without a block for anybody: no progress, until the host sheds load.
#include <gtest/gtest.h>

#include <tuple>

#include "support/runtime_test.h"
#include "support/step_batch.h"

namespace {

using namespace reference;
using support::IsError;
using support::IsOk;
using support::StepBatch;

class StepNoProgressTest : public support::DeviceTest {
 protected:
    // Slots 1, 3 and 5 need a block and own none; slot 0 owns `owned` of the 2 blocks there are.
    static StepData State(int64_t owned, int64_t capacity = 2) {
        StepData data = IdleStepData({6, 7, 6, capacity, 16, 10, 4});
        for (const size_t slot : {1, 3, 5}) {
            data[kStopFlags][slot] = 0;
            data[kSeqLensThisTime][slot] = 1;
        }
        data[kUsedListLen][0] = owned;
        data[kStopFlags][0] = 0;
        for (int64_t block = 0; block < capacity; ++block) {
            if (block < owned) {
                data.Block(0, block) = 100 + block;
            } else {
                data[kFreeList][static_cast<size_t>(data[kFreeListLen][0]++)] = 100 + block;
            }
        }
        return data;
    }
};

TEST_F(StepNoProgressTest, IsReportedAndWritesNothing) {
    for (const char* conformance : {"standard", "exact"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        for (const int64_t owned : {0, 1, 2}) {
            StepBatch batch(State(owned));
            EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, batch.Run(nullptr), {"aclnnStep"},
                                {3, 2}));
            EXPECT_TRUE(batch.IsUntouched());
        }
        StepBatch none(State(0, 0));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, none.Run(nullptr), {"aclnnStep"}, {3, 0}));
        EXPECT_TRUE(none.IsUntouched());
    }
}

TEST_F(StepNoProgressTest, EndsWhenTheHostShedsLoad) {
    StepBatch batch(State(2));
    ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, batch.LaunchAndWait(nullptr),
                        {"aclnnStep"}, {3, 2}));
    StepData data = State(2);
    data[kStopFlags][3] = 1;
    batch.Upload(data);
    ASSERT_EQ(Step(data, false).outcome, StepOutcome::kOk);
    EXPECT_TRUE(IsOk(batch.LaunchAndWait(nullptr)));
    EXPECT_TRUE(batch.Holds(data));
}

// Bad data is found first.
TEST_F(StepNoProgressTest, ComesAfterEntryChecks) {
    const std::tuple<StepTensor, size_t, int64_t> entries[] = {{kNeedBlockLen, 0, 1},
                                                               {kUsedListLen, 4, -1},
                                                               {kSeqLensDecoder, 5, -1},
                                                               {kRecoverLens, 0, 9}};
    for (const auto& [tensor, index, bad] : entries) {
        StepData data = State(1);
        data[tensor][index] = bad;
        StepBatch batch(data);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, batch.Run(nullptr), {"aclnnStep"}));
        EXPECT_TRUE(batch.IsUntouched());
    }
}

}  // namespace
