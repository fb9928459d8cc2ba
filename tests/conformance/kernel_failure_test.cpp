// SPDX-License-Identifier: Apache-2.0
// Kernels that fail: codes, exceptions, ends of threads, counters, failures on purpose.
#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "conformance/kernel_launch_fixture.h"

namespace conformance {
namespace {

TEST_F(KernelLaunchTest, CodesByEngine) {
    const Values values{std::vector<int64_t>(2)};
    aclrtLaunchKernelAttr engine = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    aclrtLaunchKernelAttr limit = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US);
    engine.value.engineType = ACL_RT_ENGINE_TYPE_AIC;
    limit.value.timeoutUs = {1, 0};
    aclrtLaunchKernelAttr attributes[] = {limit, engine};
    aclrtLaunchKernelCfg config{attributes, 2};
    ASSERT_TRUE(IsOk(LaunchWith(Function("same_row"), 1, values.With(4), nullptr, &config)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr), {"row 4"}));
    for (const size_t count : {2, 1}) {
        config.numAttrs = count;
        ASSERT_TRUE(
            IsOk(LaunchWith(Function("most_at_a_time"), 300, values.With(0), nullptr, &config)));
        EXPECT_TRUE(
            IsError(count == 2 ? ACL_ERROR_RT_AICORE_TIMEOUT : ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
                    aclrtSynchronizeStream(nullptr), {"most_at_a_time: took ", "at most 1 us"}));
    }
}

TEST_F(KernelLaunchTest, AnExceptionIsAFailure) {
    EXPECT_TRUE(IsError(kFault, LaunchAndWait("throws", 3, {nullptr, 0, 0}),
                        {"throws: block 0 of 3 threw an exception"}));
}

TEST_F(KernelLaunchTest, AnEndOfItsThreadIsAFailureAndTheThreadGoesOn) {
    for (const uint32_t blocks : {1U, 3U, 1000U}) {  // those of many blocks on several threads
        EXPECT_TRUE(IsError(kFault, LaunchAndWait("exits", blocks, {nullptr, 0, 0}),
                            {"exits: block 0 of ", "threw an exception"}));
    }
    const Values values({-1});
    EXPECT_TRUE(IsOk(LaunchAndWait("add_rows", 1, values.With(0))));
}

TEST_F(KernelLaunchTest, IsCountedAndFailsOnPurpose) {
    const Values values({-1});
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(LaunchAndWait("add_rows", 1, values.With(0))));
    ASSERT_TRUE(IsError(kFault, LaunchAndWait("check_rows", 1, values.With(0))));
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 2U);
    EXPECT_EQ(counters.dataErrors, 1U);
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, 507899, ADVSTEP_FAULT_IN_STREAM)));
    EXPECT_TRUE(
        IsError(507899, LaunchAndWait("add_rows", 1, values.With(1)), {"add_rows: made to"}));
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, 507899, ADVSTEP_FAULT_AT_CALL)));
    EXPECT_TRUE(IsError(507899, LaunchAndWait("add_rows", 1, values.With(1)), {"made to"}));
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    EXPECT_EQ(values.Read()[0], -1);
}

}  // namespace
}  // namespace conformance
