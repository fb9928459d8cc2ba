// SPDX-License-Identifier: Apache-2.0
// How long the launches of phase two count as, by what they may move, and their time limits.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "acl/acl.h"
#include "advance_step/host_call.h"
#include "src/runtime/commands/host_work.h"
#include "src/runtime/commands/launcher.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/tensor.h"

namespace advstep {
namespace {

// Keeps the last launch, and queues nothing.
class LengthLauncher : public Launcher {
 public:
    Status Launch(const StreamRef& /*stream*/, const PlannedLaunch& launch, const void* /*payload*/,
                  const Work& /*work*/) override {
        last = launch;
        return {};
    }
    Status LaunchHost(const StreamRef& /*stream*/, HostWork* work,
                      const HostWorkLaunch& launch) override {
        lastHost = launch;
        work->Drop();
        return {};
    }
    PlannedLaunch last;
    HostWorkLaunch lastHost;
};

class PhaseTwoLengthTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        before_ = ExchangeLauncher(&launcher_);
    }
    void TearDown() override {
        ExchangeLauncher(before_);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }

    LengthLauncher launcher_;
    Launcher* before_ = nullptr;
};

TEST_F(PhaseTwoLengthTest, BlocksOfFlashInferCountBesideItsRows) {
    struct Case {
        int64_t numSeqs;
        int64_t numQueries;
        int64_t maxBlocks;
        TaskLength length;
    };
    for (const Case& c :
         {Case{8, 8, 4, TaskLength::kUsual}, Case{64, 64, 1024, TaskLength::kUsual},
          Case{64, 64, 1028, TaskLength::kHeavy}, Case{64, 32, 1028, TaskLength::kUsual}}) {
        SCOPED_TRACE(testing::Message() << c.numQueries << " x " << c.maxBlocks);
        support::OpBatch batch = support::MakeFlashInferBatch(support::MakeFlashInferData(
            support::MakeBatch(c.numSeqs, c.numQueries, 16, c.maxBlocks, 1), 0));
        ASSERT_EQ(batch.Plan(), ACLNN_SUCCESS);
        ASSERT_EQ(batch.Launch(nullptr), ACLNN_SUCCESS);
        EXPECT_EQ(launcher_.last.length, c.length);
        EXPECT_EQ(launcher_.last.run,
                  c.length == TaskLength::kUsual ? &RunKernelTask : &RunOperatorTask);
    }
}

// The limit is that of the time when the launch is queued.
TEST_F(PhaseTwoLengthTest, LaunchesThatMayTakeLongHaveTheTimeLimit) {
    const support::DeviceBuffer in(std::vector<int64_t>{1}), out(std::vector<int64_t>{0});
    const support::Tensor self(support::TensorSpec{{1}, in.Get(), ACL_INT64});
    const support::Tensor result(support::TensorSpec{{1}, out.Get(), ACL_INT64});
    support::OwnCall call(self.Get(), nullptr, result.Get(), 1, 1);
    ASSERT_EQ(call.Plan(), ACLNN_SUCCESS);
    ASSERT_EQ(aclSetAclOpExecutorRepeatable(call.executor), ACLNN_SUCCESS);
    for (const auto& [milliseconds, units] : {std::pair{0, 254}, {1, 1}, {5000, 2}}) {
        ASSERT_EQ(aclrtSetOpExecuteTimeOutWithMs(static_cast<uint32_t>(milliseconds)), ACL_SUCCESS);
        ASSERT_EQ(call.Run(nullptr), ACLNN_SUCCESS);
        EXPECT_EQ(launcher_.last.run, &RunFloatOperatorTask);
        EXPECT_EQ(launcher_.last.timeLimit, units);
        EXPECT_EQ(launcher_.last.length, TaskLength::kUnknown);
    }
    EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), ACLNN_SUCCESS);
}

// One that says that it is short is not timed.
TEST_F(PhaseTwoLengthTest, HostOperatorsHaveTheTimeLimit) {
    static constexpr AdvStepHostCallTable kTable = {
        sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnTimed",
        [](const void*, const AdvStepHostRun*) -> int32_t { return 0; }, nullptr};
    const AdvStepHostCall* call = nullptr;
    ASSERT_EQ(advstepRegisterHostCall(&kTable, &call), ACLNN_SUCCESS);
    for (const int32_t isShort : {0, 1}) {
        const AdvStepHostPlanRequest request = {
            sizeof(AdvStepHostPlanRequest), 0, nullptr, nullptr, 0, isShort};
        AdvStepHostPlan* plan = nullptr;
        ASSERT_EQ(advstepMakeHostPlan(call, &request, &plan), ACLNN_SUCCESS);
        for (const auto& [milliseconds, units] : {std::pair{0, 254}, {1, 1}, {5000, 2}}) {
            ASSERT_EQ(aclrtSetOpExecuteTimeOutWithMs(static_cast<uint32_t>(milliseconds)),
                      ACL_SUCCESS);
            uint64_t bytes = 0;
            aclOpExecutor* executor = nullptr;
            ASSERT_EQ(advstepMakeHostExecutor(plan, nullptr, &bytes, &executor), ACLNN_SUCCESS);
            ASSERT_EQ(advstepRunHostExecutor(call, nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
            EXPECT_EQ(launcher_.lastHost.timeLimit,
                      isShort != 0 ? 0 : static_cast<uint64_t>(units) * kTimeLimitUnit);
            EXPECT_EQ(launcher_.lastHost.length,
                      isShort != 0 ? TaskLength::kUsual : TaskLength::kHeavy);
        }
        advstepReleaseHostPlan(plan);
    }
}

}  // namespace
}  // namespace advstep
