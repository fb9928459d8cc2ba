// SPDX-License-Identifier: Apache-2.0
// Plans of an operator of one's own: right ones run and count, and wrong ones are refused.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace conformance {
namespace {

using advance_step::op::KernelProgram;
using support::DeviceBuffer;
using support::IsOk;
using support::OwnCall;
using support::TakeMessage;
using Values = std::vector<int64_t>;

class OwnPlanTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCount = 5;

    void SetUp() override {
        DeviceTest::SetUp();
        in_ = DeviceBuffer(Values{1, 2, 3, 4, 5});
        bias_ = DeviceBuffer(Values{10, 20, 30, 40, 50});
        out_ = DeviceBuffer(Values(kCount, -7));
        const auto in = TensorOf(in_), out = TensorOf(out_);
        ASSERT_TRUE(IsOk(support::PassEarlierPlans(in.Get(), out.Get(), kCount)));
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{kCount}, buffer.Get(), ACL_INT64});
    }
    Values Out() const { return out_.Download<int64_t>(); }

    DeviceBuffer in_, bias_, out_;
};

TEST_F(OwnPlanTest, RunsWithAndWithoutTheOptionalTensor) {
    const auto in = TensorOf(in_), bias = TensorOf(bias_), out = TensorOf(out_);
    OwnCall without(in.Get(), nullptr, out.Get(), 100, kCount);
    ASSERT_TRUE(IsOk(without.Plan()));
    EXPECT_EQ(without.views[1].dataType, ACL_DT_UNDEFINED);
    ASSERT_TRUE(IsOk(without.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(Out(), (Values{101, 102, 103, 104, 105}));
    OwnCall with(in.Get(), bias.Get(), out.Get(), 100, kCount);
    ASSERT_TRUE(IsOk(with.Plan()));
    EXPECT_EQ(with.isPlanned, 0);
    ASSERT_TRUE(IsOk(with.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(Out(), (Values{111, 122, 133, 144, 155}));
}

TEST_F(OwnPlanTest, AnEqualPlanIsFoundAgain) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall first(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(first.Plan()));
    EXPECT_EQ(first.isPlanned, 0);
    ASSERT_TRUE(IsOk(first.Run(nullptr)));
    OwnCall again(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(again.Plan()));
    EXPECT_EQ(again.isPlanned, 1);
    ASSERT_TRUE(IsOk(again.Run(nullptr)));
    OwnCall other(in.Get(), nullptr, out.Get(), 2, kCount);
    ASSERT_TRUE(IsOk(other.Plan()));
    EXPECT_EQ(other.isPlanned, 0);
    ASSERT_TRUE(IsOk(other.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(Out(), (Values{3, 4, 5, 6, 7}));
}

TEST_F(OwnPlanTest, APlanForOtherCoresOrAnotherDeviceIsNotFound) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    const auto planned = [&] {
        OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
        EXPECT_TRUE(IsOk(call.Plan()));
        EXPECT_TRUE(IsOk(call.Run(nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return call.isPlanned != 0;
    };
    EXPECT_FALSE(planned());
    EXPECT_TRUE(planned());
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 5)));
    EXPECT_FALSE(planned());
    EXPECT_TRUE(planned());
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_TRUE(planned()) << "the first plan is still there";
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    OwnCall elsewhere(in.Get(), nullptr, out.Get(), 1, kCount);
    EXPECT_TRUE(IsOk(elsewhere.Plan()));
    EXPECT_EQ(elsewhere.isPlanned, 0);
    EXPECT_NE(elsewhere.Run(nullptr), ACLNN_SUCCESS) << "the memory is of device 0";
    EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
}

// Memory that the program has registered is still there, but no longer the device's.
TEST_F(OwnPlanTest, ARepeatableOneUsesNoMemoryOfAnEndedRuntime) {
    for (DeviceBuffer* const buffer : {&in_, &bias_, &out_}) {
        *buffer = DeviceBuffer();
    }
    Values words(2 * kCount, 3);
    void* device = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(words.data(), words.size() * sizeof(int64_t),
                                       ACL_HOST_REGISTER_MAPPED, &device)));
    const auto at = [&](int64_t first) {
        return support::Tensor(support::TensorSpec{{kCount}, words.data() + first, ACL_INT64});
    };
    const auto in = at(0), out = at(kCount);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(call.executor)));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(words.back(), 4);
    words.back() = 7;
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_NE(call.Run(nullptr), ACLNN_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(words.back(), 7);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(call.executor)));
}

TEST_F(OwnPlanTest, AFaultHasItsWordsAndWritesNothing) {
    in_ = DeviceBuffer(Values{1, 2, -3, 4, -5});
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(TakeMessage(),
              "aclrtSynchronizeStream: aclnnOwn: row 2: in is -3; expected at least 0");
    EXPECT_EQ(Out(), Values(kCount, -7));
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 1u);
    EXPECT_EQ(counters.dataErrors, 1u);
}

TEST_F(OwnPlanTest, FailsOnPurpose) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, ACL_ERROR_RT_AICORE_EXCEPTION, ADVSTEP_FAULT_IN_STREAM)));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_NE(TakeMessage().find("aclnnOwn: made to fail"), std::string::npos);
    EXPECT_EQ(Out(), Values(kCount, -7));
    ASSERT_TRUE(IsOk(advstepClearFaults()));
}

TEST_F(OwnPlanTest, CoreLimitsReachTheEnvironment) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 5)));
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    EXPECT_EQ(call.environment.vectorCores, 5);
    EXPECT_EQ(call.environment.socVectorCores, 40);
    EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
}

TEST_F(OwnPlanTest, AnOverlapIsRefused) {
    const auto out = TensorOf(out_);
    OwnCall call(out.Get(), nullptr, out.Get(), 1, kCount);
    EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(TakeMessage().find("aclnnOwnGetWorkspaceSize: out at "), 0u);
}

struct WrongPlan {
    std::function<void(AdvStepOperatorPlan*)> change;
    std::string says;
};

KernelProgram ProgramWith(const std::function<void(KernelProgram*)>& change) {
    KernelProgram program = support::kOwnProgram;
    change(&program);
    return program;
}

TEST_F(OwnPlanTest, WrongPlansAreRefused) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    const KernelProgram otherCall = ProgramWith([](auto* p) { p->call = "aclnnOther"; });
    const KernelProgram noCall = ProgramWith([](auto* p) { p->call = nullptr; });
    const KernelProgram noPhase = ProgramWith([](auto* p) { p->phaseCount = 0; });
    const KernelProgram manyPhases = ProgramWith([](auto* p) { p->phaseCount = 7; });
    const KernelProgram noFunction = ProgramWith([](auto* p) { p->phases[1].run = nullptr; });
    const KernelProgram kept = ProgramWith([](auto* p) { p->keptBytesPerRow = -1; });
    static constexpr advance_step::op::CounterNames kNine = {9, {"one"}}, kTwo = {2, {"one"}};
    const auto counting = [](const advance_step::op::CounterNames* names) {
        return ProgramWith([&](auto* p) {
            p->count = [](const void*, int64_t*) {};
            p->counters = names;
        });
    };
    const KernelProgram unnamed = counting(nullptr);
    const KernelProgram many = counting(&kNine);
    const KernelProgram few = counting(&kTwo);
    const std::vector<WrongPlan> wrongs = {
        {[](auto* p) { p->program = nullptr; }, "its program is null; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &otherCall; },
         "its program is aclnnOther; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &noCall; },
         "its program is without a call; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &noPhase; }, "its program has 0 phases; expected 1 to 6"},
        {[&](auto* p) { p->program = &manyPhases; }, "its program has 7 phases; expected 1 to 6"},
        {[&](auto* p) { p->program = &noFunction; }, "phase 1 has no function"},
        {[&](auto* p) { p->program = &kept; }, "keptBytesPerRow is -1; expected at least 0"},
        {[&](auto* p) { p->program = &unnamed; },
         "its program has count and no counters; expected their names"},
        {[&](auto* p) { p->program = &many; }, "its program has 9 counters; expected 0 to 8"},
        {[&](auto* p) { p->program = &few; }, "counter 1 has no name"},
        {[](auto* p) { p->coreCount = 41; },
         "coreCount is 41; expected 0 <= coreCount <= the environment's vectorCores = 40"},
        {[](auto* p) { p->coreCount = -1; },
         "coreCount is -1; expected 0 <= coreCount <= the environment's vectorCores = 40"},
        {[](auto* p) { p->rows = -1; }, "rows is -1; expected at least 0"},
        {[](auto* p) { p->workspaceAt = 44; },
         "workspaceAt is 44; expected -1 or the offset of a pointer in the payload of 48 bytes"},
        {[](auto* p) { p->workspaceBytes = 64; },
         "workspaceBytes is 64 and workspaceAt -1; expected a place for the workspace's address"}};
    for (const WrongPlan& wrong : wrongs) {
        OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
        wrong.change(&call.plan);
        EXPECT_EQ(call.Plan(), ACLNN_ERR_INNER) << wrong.says;
        EXPECT_EQ(
            TakeMessage(),
            "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: " + wrong.says);
        EXPECT_EQ(call.executor, nullptr);
    }
    OwnCall small(in.Get(), nullptr, out.Get(), 1, kCount);
    small.plan.structBytes = 8;
    EXPECT_EQ(small.Plan(), ACLNN_ERR_INNER);
    EXPECT_NE(TakeMessage().find("plan has structBytes 8; expected"), std::string::npos);
}

struct WrongView {
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t offset;
    aclDataType dataType;
    const char* says;
};

// The plan of the operator has checked nothing.
TEST_F(OwnPlanTest, TensorsWithoutAddressesAreRefused) {
    const auto out = TensorOf(out_);
    const int64_t huge = int64_t{1} << 40;
    const std::vector<WrongView> wrongs = {
        {{5}, {1}, 0, ACL_INT4, "in has data type ACL_INT4; expected one of whole bytes"},
        {{5},
         {1},
         0,
         static_cast<aclDataType>(777),
         "in has data type 777; expected one of whole bytes"},
        {{huge, huge},
         {1, 1},
         0,
         ACL_INT64,
         "in has shape [1099511627776, 1099511627776], strides [1, 1] and offset 0"},
        {{4, 2},
         {huge << 22, 1},
         0,
         ACL_INT64,
         "in has shape [4, 2], strides [4611686018427387904, 1] and offset 0"},
        {{4, 2}, {-2, 1}, 0, ACL_INT64, "in has shape [4, 2], strides [-2, 1] and offset 0"},
        {{-5, 3}, {3, 1}, 0, ACL_INT64, "in has shape [-5, 3], strides [3, 1] and offset 0"},
        {{5}, {1}, -1, ACL_INT64, "in has shape [5], strides [1] and offset -1"}};
    for (const WrongView& wrong : wrongs) {
        aclTensor* const in = aclCreateTensor(wrong.dims.data(), wrong.dims.size(), wrong.dataType,
                                              wrong.strides.data(), wrong.offset, ACL_FORMAT_ND,
                                              wrong.dims.data(), wrong.dims.size(), in_.Get());
        OwnCall call(in, nullptr, out.Get(), 1, kCount);
        EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_INVALID) << wrong.says;
        EXPECT_EQ(TakeMessage().rfind("aclnnOwnGetWorkspaceSize: " + std::string(wrong.says), 0),
                  0U);
        EXPECT_EQ(call.executor, nullptr);
        EXPECT_TRUE(IsOk(aclDestroyTensor(in)));
    }
}

// A column of a matrix spans its gaps: here 10 elements, of which the allocation has 5.
TEST_F(OwnPlanTest, AViewWithGapsSpansThem) {
    const auto out = TensorOf(out_);
    const int64_t dims[] = {2, 5};
    const int64_t strides[] = {1, 2};
    aclTensor* const in =
        aclCreateTensor(dims, 2, ACL_INT64, strides, 0, ACL_FORMAT_ND, dims, 2, in_.Get());
    OwnCall call(in, nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    EXPECT_EQ(call.Run(nullptr), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_NE(TakeMessage().find("in takes 80 bytes"), std::string::npos);
    EXPECT_TRUE(IsOk(aclDestroyTensor(in)));
}

TEST_F(OwnPlanTest, APlanWithoutAPayloadIsRefused) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    call.plan.payload = nullptr;
    EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(TakeMessage(), "aclnnOwnGetWorkspaceSize: plan->payload is null; expected a pointer");
    EXPECT_EQ(call.executor, nullptr);
}

}  // namespace
}  // namespace conformance
