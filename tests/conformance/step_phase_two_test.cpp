// SPDX-License-Identifier: Apache-2.0
// Phase two of the operator that needs a workspace: its codes, and executors of the other operator.
#include <gtest/gtest.h>

#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_step.h"
#include "support/runtime_test.h"
#include "support/status.h"
#include "support/step_batch.h"

namespace {

using namespace support;

class StepPhaseTwoTest : public support::DeviceTest {
 protected:
    static reference::StepData Idle() { return reference::IdleStepData({6, 7, 6, 2, 16, 10, 4}); }

    // The executor is spent: it is refused whatever it is given.
    static void ExpectSpent(const StepBatch& batch, const DeviceBuffer& workspace) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                            aclnnStep(workspace.Get(), workspace.Size(), batch.Executor(), nullptr),
                            {"executor"}));
    }
};

TEST_F(StepPhaseTwoTest, NullWorkspace) {
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_GT(batch.WorkspaceSize(), 0U);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        aclnnStep(nullptr, batch.WorkspaceSize(), batch.Executor(), nullptr),
                        {"aclnnStep: ", "workspace"}));
    ExpectSpent(batch, DeviceBuffer(batch.WorkspaceSize()));
}

TEST_F(StepPhaseTwoTest, WorkspaceTooSmall) {
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.Plan()));
    const DeviceBuffer workspace(batch.WorkspaceSize());
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID,
                aclnnStep(workspace.Get(), batch.WorkspaceSize() - 1, batch.Executor(), nullptr),
                {"aclnnStep: ", "workspaceSize"}));
    ExpectSpent(batch, workspace);
}

TEST_F(StepPhaseTwoTest, NoWorkspaceAtAllIsTooSmall) {
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnStep(nullptr, 0, batch.Executor(), nullptr),
                        {"aclnnStep: ", "workspaceSize"}));
}

TEST_F(StepPhaseTwoTest, WorkspaceMustBeDeviceMemoryOfThatSize) {
    std::vector<char> host(1 << 16);
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR,
                        aclnnStep(host.data(), host.size(), batch.Executor(), nullptr),
                        {"aclnnStep: ", "workspace", "107000"}));
    ASSERT_TRUE(IsOk(batch.Plan()));
    const DeviceBuffer workspace(batch.WorkspaceSize());
    EXPECT_TRUE(
        IsError(ACLNN_ERR_RUNTIME_ERROR,
                aclnnStep(workspace.At(1), batch.WorkspaceSize(), batch.Executor(), nullptr),
                {"aclnnStep: ", "workspace", "107000"}));
    EXPECT_TRUE(batch.IsUntouched());
}

// The plan lies in the workspace, so a tensor there would be overwritten, and the plan with it.
TEST_F(StepPhaseTwoTest, WorkspaceMustNotOverlapATensor) {
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
    const uint64_t size = batch.WorkspaceSize();
    const size_t begin = 1024;  // of the workspace, beyond the 896 bytes of an inputIds before it
    const size_t end = begin + (size + 7) / 8 * 8;
    const DeviceBuffer memory(end + 1024);
    const auto runWithInputIdsAt = [&](size_t offset) {
        EXPECT_TRUE(
            IsOk(aclSetTensorAddr(batch.Executor(), reference::kInputIds,
                                  batch.TensorAt(reference::kInputIds), memory.At(offset))));
        return aclnnStep(memory.At(begin), size, batch.Executor(), nullptr);
    };
    EXPECT_TRUE(IsOk(runWithInputIdsAt(end)));
    for (const size_t offset : {end - 8, begin, begin - 888}) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, runWithInputIdsAt(offset),
                            {"aclnnStep: ", "workspace", "inputIds"}))
            << offset;
    }
    EXPECT_TRUE(IsOk(runWithInputIdsAt(begin - 896)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

TEST_F(StepPhaseTwoTest, RefusesTheExecutorOfAnotherOperator) {
    StepBatch batch(Idle());
    ASSERT_TRUE(IsOk(batch.Plan()));
    const DeviceBuffer workspace(batch.WorkspaceSize());
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID,
                aclnnAdvanceStep(workspace.Get(), workspace.Size(), batch.Executor(), nullptr),
                {"aclnnAdvanceStep: ", "aclnnStep"}));
    ExpectSpent(batch, workspace);
}

}  // namespace
