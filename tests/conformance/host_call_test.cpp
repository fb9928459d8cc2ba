// SPDX-License-Identifier: Apache-2.0
// Host operators in aclnn's two calls: runs, addresses, lists, failures, and the release of their
// arguments, exactly once.
#include "advance_step/host_call.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "conformance/host_call_fixture.h"
#include "support/fork_child.h"

namespace {

using namespace conformance;

class HostCallRunTest : public HostCallTest {
 protected:
    const std::vector<int64_t> sum_{117, 119, 121, 123};
};

TEST_F(HostCallRunTest, RunsOnceAndReleasesItsArguments) {
    aclOpExecutor* const executor = Sum(7, {&one_, &two_}, out_);
    ASSERT_TRUE(IsOk(Run(executor)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), sum_);
    ExpectCounts(1, 1);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, Run(executor), {"aclnnTestSum: ", "used"}));
}

TEST_F(HostCallRunTest, AnExecutorThatIsNeverRunReleasesItsArguments) {
    aclOpExecutor* const executor = Sum(7, {&one_}, out_);
    ExpectCounts(0, 0);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    ExpectCounts(0, 1);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(executor), {"used"}));
    ExpectCounts(0, 1);
}

TEST_F(HostCallRunTest, APlanHasManyExecutors) {
    const Tensor term(TensorSpec{{kCount}, one_.Get()});
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    AdvStepHostPlan* const plan = Plan(Args(7), {term.Get()}, out.Get());
    for (int run = 0; run < 3; ++run) {
        ASSERT_TRUE(IsOk(Run(Executor(plan))));
    }
    void* const addresses[] = {two_.Get(), out_.Get()};
    ASSERT_TRUE(IsOk(Run(Executor(plan, addresses))));
    advstepReleaseHostPlan(plan);
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), Values(107));
    ExpectCounts(4, 1);
}

TEST_F(HostCallRunTest, ARepeatableExecutorRunsAgainWithOtherAddresses) {
    aclOpExecutor* const executor = Sum(7, {&one_, &two_}, out_);
    const DeviceBuffer other(Values(0));
    const Tensor any(TensorSpec{{kCount}, nullptr});
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    const HostGate gate(nullptr);  // the first run is queued when the address changes
    ASSERT_TRUE(IsOk(Run(executor)));
    ASSERT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, any.Get(), other.Get())));
    ASSERT_TRUE(IsOk(Run(executor)));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), sum_);
    EXPECT_EQ(other.Download<int64_t>(), sum_);
    ExpectCounts(2, 0);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    ExpectCounts(2, 1);
}

TEST_F(HostCallRunTest, AddressesOfTensorsAndListsAreFoundByTheirPlaces) {
    aclOpExecutor* const executor = Sum(0, {&one_, &two_}, out_);
    const Tensor any(TensorSpec{{kCount}, nullptr});
    const aclTensor* member = Tensor(TensorSpec{{kCount}, nullptr}).Release();
    aclTensorList* const list = aclCreateTensorList(&member, 1);
    const DeviceBuffer ten(Values(10));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    EXPECT_TRUE(IsOk(aclSetDynamicInputTensorAddr(executor, 0, 1, list, ten.Get())));
    EXPECT_TRUE(IsOk(AclSetTensorAddr(executor, 1, any.Get(), out_.Get())));
    ASSERT_TRUE(IsOk(Run(executor)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), (std::vector<int64_t>{20, 22, 24, 26}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetTensorAddr(executor, 0, any.Get(), ten.Get()), {"list"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetTensorAddr(executor, 2, any.Get(), ten.Get()), {"index is 2"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetOutputTensorAddr(executor, 1, any.Get(), ten.Get()), {"in/out"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetDynamicTensorAddr(executor, 1, 0, list, ten.Get()), {"irIndex"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        AclSetDynamicTensorAddr(executor, 0, 2, list, ten.Get()),
                        {"relativeIndex is 2", "aclnnTestSum"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        aclSetDynamicOutputTensorAddr(executor, 0, 0, list, ten.Get())));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    EXPECT_TRUE(IsOk(aclDestroyTensorList(list)));
}

TEST_F(HostCallRunTest, AFailureHasTheCallAndTheMessage) {
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    SumArgs* const args = Args(5);
    args->code = ACL_ERROR_RT_AICPU_EXCEPTION;
    AdvStepHostPlan* const plan = Plan(args, {}, out.Get());
    ASSERT_TRUE(IsOk(Run(Executor(plan))));
    advstepReleaseHostPlan(plan);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(nullptr),
                        {"aclnnTestSum: add is 5"}));
    ExpectCounts(1, 1);
}

TEST_F(HostCallRunTest, AnExceptionIsAFailure) {
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    SumArgs* const args = Args(5);
    args->throws = true;
    AdvStepHostPlan* const plan = Plan(args, {}, out.Get());
    ASSERT_TRUE(IsOk(Run(Executor(plan))));
    advstepReleaseHostPlan(plan);
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(nullptr),
                        {"aclnnTestSum", "no sum today"}));
    ExpectCounts(1, 1);
}

TEST_F(HostCallRunTest, RunsAreCountedAsLaunches) {
    ASSERT_TRUE(IsOk(advstepResetCounters(0)));
    ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_))));
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    SumArgs* const args = Args(5);
    args->code = ACL_ERROR_RT_AICPU_EXCEPTION;
    AdvStepHostPlan* const plan = Plan(args, {}, out.Get());
    ASSERT_TRUE(IsOk(Run(Executor(plan))));
    advstepReleaseHostPlan(plan);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(nullptr)));
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 2U);
}

TEST_F(HostCallRunTest, LaunchesMadeToFailReleaseTheirArguments) {
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, ACL_ERROR_RT_AICPU_EXCEPTION, ADVSTEP_FAULT_AT_CALL)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, Run(Sum(7, {&one_}, out_)), {"aclnnTestSum"},
                        {ACL_ERROR_RT_AICPU_EXCEPTION}));
    ExpectCounts(0, 1);
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, ACL_ERROR_RT_AICPU_EXCEPTION, ADVSTEP_FAULT_IN_STREAM)));
    EXPECT_TRUE(IsOk(Run(Sum(7, {&one_}, out_))));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICPU_EXCEPTION, aclrtSynchronizeStream(nullptr),
                        {"aclnnTestSum: made to fail"}));
    ExpectCounts(0, 2);
    ASSERT_TRUE(IsOk(advstepClearFaults()));
}

TEST_F(HostCallRunTest, OneThatIsSkippedReleasesItsArguments) {
    const Stream stream = MakeStream();
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Run(Sum(7, {&one_}, out_), stream.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    }
    (void)aclrtSynchronizeStream(stream.Get());
    ExpectCounts(0, 1);
}

TEST_F(HostCallRunTest, TwoThreadsRunExecutorsOfOnePlan) {
    const Tensor term(TensorSpec{{kCount}, one_.Get()});
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    AdvStepHostPlan* const plan = Plan(Args(7), {term.Get()}, out.Get());
    const auto work = [&] {
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        const DeviceBuffer result(Values(0));
        void* const addresses[] = {one_.Get(), result.Get()};
        const Stream stream = MakeStream();
        for (int run = 0; run < 200; ++run) {
            ASSERT_TRUE(IsOk(Run(Executor(plan, addresses), stream.Get())));
        }
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(result.Download<int64_t>(), Values(17));
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(released_, 0);
    advstepReleaseHostPlan(plan);
    ExpectCounts(400, 1);
}

TEST_F(HostCallRunTest, AChildOfAForkMakesAndDestroysExecutors) {
    aclOpExecutor* const mine = Sum(7, {&one_}, out_);
    EXPECT_EQ(support::InForkedChild([&] { return aclDestroyAclOpExecutor(mine) == 0 ? 0 : 1; }),
              0);
    EXPECT_TRUE(IsOk(Run(mine)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    ExpectCounts(1, 1);
}

}  // namespace
