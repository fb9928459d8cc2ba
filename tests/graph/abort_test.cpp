// SPDX-License-Identifier: Apache-2.0
// RunGraph and aclrtDeviceTaskAbort.
#include <gtest/gtest.h>

#include <vector>

#include "graph/tied_operator_fixture.h"
#include "support/host_work.h"

namespace {

using graphs::Succeeded;
using graphs::TiedOperatorTest;
using graphs::ValuesOf;

int32_t abortedDevice = 0;

// Launches aclnnTestMix behind a host function, and aborts the work of a device before the launch
// begins and before the run waits for it.
aclnnStatus RunAroundAnAbort(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
    const support::HostGate gate(stream);
    EXPECT_TRUE(gate.WaitEntered());
    const aclnnStatus code = aclnnTestMix(workspace, workspaceSize, executor, stream);
    // The host function is running work of device 0.
    EXPECT_EQ(aclrtDeviceTaskAbort(abortedDevice, 1),
              abortedDevice == 0 ? ACL_ERROR_RT_WAIT_TIMEOUT : ACL_SUCCESS);
    return code;
}

}  // namespace

TEST_TIED_MIX(TestMixAborted, RunAroundAnAbort, 1)

namespace {

TEST_F(TiedOperatorTest, ARunFailsIfAnAbortDropsItsOperator) {
    abortedDevice = 0;
    for (int run = 0; run < 2; ++run) {
        EXPECT_TRUE(Refuses(ge::op::TestMixAborted("dropped"),
                            {"E19999", "Session::RunGraph: operator dropped of type ",
                             "TestMixAborted failed: code 107022: "}));
        std::vector<ge::Tensor> results;
        ASSERT_TRUE(Succeeded(RunOne(NewMix("later"), &results)));
    }
}

TEST_F(TiedOperatorTest, AnAbortOfAnotherDeviceLeavesARunAlone) {
    abortedDevice = 1;
    std::vector<ge::Tensor> results;
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestMixAborted("kept"), &results)));
    EXPECT_EQ(ValuesOf(results), (std::vector<std::vector<int64_t>>{{101, 202}, {2, 3}}));
}

}  // namespace
