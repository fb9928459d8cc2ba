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

TEST_F(HostCallRunTest, AddressesMayComeBeforeTheRun) {
    const Tensor term(TensorSpec{{kCount}, one_.Get()});
    const Tensor out(TensorSpec{{kCount}, nullptr});
    AdvStepHostPlan* const plan = Plan(Args(7), {term.Get()}, out.Get());
    aclOpExecutor* const executor = Executor(plan);
    advstepReleaseHostPlan(plan);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Run(executor), {"out has a null address"}));
    ASSERT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, out.Get(), out_.Get())));
    EXPECT_TRUE(IsOk(Run(executor)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), Values(17));
    int64_t host[kCount] = {};
    ASSERT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, out.Get(), host)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, Run(executor), {"out is at"}, {107000}));
    ASSERT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, out.Get(), nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Run(executor), {"out has a null address"}));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
}

// Arguments: a tensor that is written, one that is left out, a list that is written, one that is
// read.
TEST_F(HostCallRunTest, WrittenTensorsAndListsAreCountedTogether) {
    struct Seen {
        std::vector<void*> addresses;
        std::vector<int64_t> strides;
    } seen;
    static constexpr AdvStepHostCallTable kTable = {
        sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnTestSeen",
        [](const void* args, const AdvStepHostRun* run) -> int32_t {
            auto& found = **static_cast<Seen* const*>(args);
            for (uint32_t place = 0; place < run->tensorCount; ++place) {
                found.addresses.push_back(run->tensors[place].data);
                found.strides.push_back(run->tensors[place].strides[0]);
            }
            return 0;
        },
        nullptr};
    const Tensor any(TensorSpec{{1}, one_.Get(), ACL_INT64, {-99}});
    const AdvStepHostTensor tensors[] = {{ViewOf(any.Get()), "a", ADVSTEP_WRITES, 0, -1},
                                         {ViewOf(any.Get()), "b", ADVSTEP_WRITES, 2, 0},
                                         {ViewOf(any.Get()), "b", ADVSTEP_WRITES, 2, 3},
                                         {ViewOf(any.Get()), "c", ADVSTEP_READS, 3, -1},
                                         {ViewOf(any.Get()), "d", ADVSTEP_READS_AND_WRITES, 4, -1}};
    Seen* args = &seen;
    const AdvStepHostPlanRequest request{sizeof(AdvStepHostPlanRequest), 5, tensors, &args, 0, 0};
    AdvStepHostPlan* plan = nullptr;
    ASSERT_TRUE(IsOk(advstepMakeHostPlan(Registered(kTable), &request, &plan)));
    aclOpExecutor* const executor = Executor(plan);
    advstepReleaseHostPlan(plan);
    auto* const list = reinterpret_cast<aclTensorList*>(any.Get());  // it is not looked at
    char* const to = two_.At(0);
    EXPECT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 0, any.Get(), to)));
    EXPECT_TRUE(IsOk(aclSetDynamicOutputTensorAddr(executor, 1, 3, list, to + 8)));
    EXPECT_TRUE(IsOk(aclSetOutputTensorAddr(executor, 2, any.Get(), to + 16)));
    EXPECT_TRUE(IsOk(aclSetInputTensorAddr(executor, 3, any.Get(), to + 24)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclSetTensorAddr(executor, 1, any.Get(), to),
                        {"index is 1"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclSetDynamicTensorAddr(executor, 2, 1, list, to),
                        {"relativeIndex is 1"}));
    ASSERT_TRUE(IsOk(advstepRunHostExecutor(Registered(kTable), nullptr, 0, executor, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(seen.addresses, (std::vector<void*>{to, one_.Get(), to + 8, to + 24, to + 16}));
    EXPECT_EQ(seen.strides, (std::vector<int64_t>(5, 1)));
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
