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

using support::DeviceBuffer;
using support::IsError;
using support::IsOk;
using support::StepBatch;

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
