// SPDX-License-Identifier: Apache-2.0
// The tensors of Step as objects of the C++ interface, and tensors of BOOL.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "advance_step/advance_step.hpp"
#include "support/runtime_test.h"

namespace cpp_step_state {
namespace {

using advance_step::Error;
using advance_step::Executor;
using advance_step::StepSizes;
using advance_step::StepState;
using advance_step::Stream;
using advance_step::Tensor;

class CppStepStateTest : public support::DeviceTest {};

constexpr StepSizes kSizes = {2, 3, 4, 10, 12, 12, 4};

// Slot 0 has 4 tokens in block 0 of the host, and needs a block for the next one.
void Admit(StepState& state) {
    state.stopFlags[0] = 0;
    state.firstTokenIds[0] = 7;
    state.blockTables[0] = 0;
    state.encoderBlockLens[0] = 1;
    state.oriSeqLensEncoder[0] = 4;
    state.seqLensThisTime[0] = 1;
    state.seqLensDecoder[0] = 4;
    state.stepIdx[0] = 1;
}

TEST_F(CppStepStateTest, BeginsWithFreeSlotsAndBlocks) {
    StepState state = StepState::Make(kSizes);
    state.Check();
    EXPECT_EQ(state.freeList.Host(), (std::vector<int32_t>{10, 11, 12, 13}));
    const Executor plan = advance_step::Step::Plan(state.Arguments());
    plan.Run(Stream());
    Stream().Synchronize();
    const StepState& after = state;
    state.Download();
    EXPECT_EQ(after.firstTokenIds.Host(), (std::vector<int64_t>{-1, -1}));
    EXPECT_EQ(after.freeListLen[0], 4);
    EXPECT_EQ(after.blockTables.Host(), std::vector<int32_t>(6, -1));
}

TEST_F(CppStepStateTest, TakesASlotThroughABlockAndItsEnd) {
    StepState state = StepState::Make(kSizes);
    advance_step::Step step;
    Admit(state);
    state.Upload();
    step(state.Arguments(), Stream());
    Stream().Synchronize();
    EXPECT_EQ(state.blockTables[1], -1) << "the host's copy does not follow by itself";
    state.Download();
    EXPECT_EQ(state.blockTables[1], 13);
    EXPECT_EQ(state.freeListLen[0], 3);
    state.Check();

    state.stopFlags[0] = 1;
    state.seqLensThisTime[0] = 0;
    state.Upload();
    step(state.Arguments(), Stream());
    Stream().Synchronize();
    state.Download();
    EXPECT_EQ(state.firstTokenIds[0], -1);
    EXPECT_EQ(state.freeListLen[0], 4);
}

TEST_F(CppStepStateTest, CheckNamesAViolation) {
    StepState state = StepState::Make(kSizes);
    state.freeList[1] = 10;
    const auto checked = state.TryCheck();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().Code(), ACL_ERROR_FAILURE);
    EXPECT_NE(std::string(checked.error().what()).find("10"), std::string::npos);
    EXPECT_THROW(state.Check(), Error);
}

TEST_F(CppStepStateTest, NeedsSizesOfAtLeastOne) {
    StepSizes sizes = kSizes;
    sizes.blocks = 0;
    const auto made = StepState::TryMake(sizes);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().Code(), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(std::string(made.error().what()), "StepState::Make: a size is 0; expected all >= 1");
}

TEST_F(CppStepStateTest, AnEmptyObjectIsRefused) {
    const StepState state;
    EXPECT_FALSE(state.TryCheck());
    EXPECT_FALSE(advance_step::Step::TryPlan(state.Arguments()));
}

TEST_F(CppStepStateTest, TensorsOfBoolAreBytes) {
    // [bool]
    const int64_t shape[] = {2, 3};
    const Tensor flags = Tensor::Allocate(ACL_BOOL, shape, 2);
    flags.Upload(std::vector<uint8_t>{1, 0, 0, 1, 1, 0});
    const std::vector<uint8_t> values = flags.Download<uint8_t>();
    // [/bool]
    EXPECT_EQ(values, (std::vector<uint8_t>{1, 0, 0, 1, 1, 0}));
    aclDataType dataType = ACL_DT_UNDEFINED;
    EXPECT_EQ(aclGetDataType(flags.Get(), &dataType), ACLNN_SUCCESS);
    EXPECT_EQ(dataType, ACL_BOOL);
}

}  // namespace
}  // namespace cpp_step_state
