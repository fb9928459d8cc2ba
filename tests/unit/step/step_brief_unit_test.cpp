// SPDX-License-Identifier: Apache-2.0
// What tells before a step that it moves little.
#include <gtest/gtest.h>

#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {
namespace {

class StepBriefTest : public testing::Test {
 protected:
    static constexpr int64_t kSlots = 256;
    static constexpr int32_t kMostInUse = kBriefBytes / sizeof(int32_t);

    bool IsBrief(int32_t free, int32_t waiting, int64_t capacity) {
        StepPayload payload{};
        payload.tiling.batch = kSlots;
        payload.tiling.freeCapacity = capacity;
        payload.args.freeListLen = &free;
        payload.args.stepLens = &waiting;
        return IsBriefStep(&payload);
    }
};

TEST_F(StepBriefTest, WithABlockForEverySlotAndNobodyWaiting) {
    EXPECT_TRUE(IsBrief(256, 0, 1000));
    EXPECT_FALSE(IsBrief(255, 0, 1000)) << "a slot may be preempted, and recovered";
    EXPECT_FALSE(IsBrief(256, 1, 1000)) << "a slot may be recovered";
    EXPECT_FALSE(IsBrief(256, -1, 1000));
    EXPECT_FALSE(IsBrief(-1, 0, 1000));
}

TEST_F(StepBriefTest, UnlessSoManyBlocksMayBeReleased) {
    EXPECT_TRUE(IsBrief(300, 0, 300 + kMostInUse));
    EXPECT_FALSE(IsBrief(300, 0, 301 + kMostInUse));
}

TEST_F(StepBriefTest, ALittleStepNeedsNoLook) {
    StepPayload payload{};  // its pointers are null
    payload.tiling.batch = kSlots;
    payload.tiling.movesLittle = 1;
    EXPECT_TRUE(IsBriefStep(&payload));
}

}  // namespace
}  // namespace advstep
