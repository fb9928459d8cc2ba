// SPDX-License-Identifier: Apache-2.0
// The two functions of phase one, advstepBeginPlan and advstepFinishPlan, with one argument missing
// or of another size. The call then makes no executor.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/tensor.h"

namespace {

using support::IsError;
using support::IsOk;
using support::OwnCall;

struct WrongCall {
    std::string name;
    int code;
    std::string text;
    std::function<int(OwnCall&)> phaseOne;  // of which one part is wrong
};

// Begins the plan, and finishes it with a part that is changed between the two.
std::function<int(OwnCall&)> Between(void (*change)(OwnCall&)) {
    return [change](OwnCall& own) {
        EXPECT_TRUE(IsOk(own.Begin()));
        change(own);
        return own.Finish();
    };
}

std::function<int(OwnCall&)> Before(void (*change)(OwnCall&)) {
    return [change](OwnCall& own) {
        change(own);
        return own.Begin();
    };
}

std::vector<WrongCall> WrongCalls() {
    constexpr int kInner = ACLNN_ERR_INNER;
    constexpr int kNull = ACLNN_ERR_PARAM_NULLPTR;
    return {
        {"BeginWithoutCall", kNull, "call is null",
         [](OwnCall& own) {
             return advstepBeginPlan(nullptr, own.views, &own.environment, &own.isPlanned);
         }},
        {"BeginWithAnotherSize", kInner, "call has structBytes 8; expected",
         Before([](OwnCall& own) { own.call.structBytes = 8; })},
        {"BeginWithoutTensors", kNull, "call->tensors is null",
         Before([](OwnCall& own) { own.call.tensors = nullptr; })},
        {"BeginWithoutAttributes", kNull, "call->attributes is null",
         Before([](OwnCall& own) { own.call.attributes = nullptr; })},
        {"BeginWithoutViews", kNull, "views is null",
         [](OwnCall& own) {
             return advstepBeginPlan(&own.call, nullptr, &own.environment, &own.isPlanned);
         }},
        {"BeginWithoutEnvironment", kNull, "environment is null",
         [](OwnCall& own) {
             return advstepBeginPlan(&own.call, own.views, nullptr, &own.isPlanned);
         }},
        {"BeginWithAnotherEnvironment", kInner, "environment has structBytes 4; expected",
         Before([](OwnCall& own) { own.environment.structBytes = 4; })},
        {"BeginWithoutIsPlanned", kNull, "isPlanned is null",
         [](OwnCall& own) {
             return advstepBeginPlan(&own.call, own.views, &own.environment, nullptr);
         }},
        {"BeginWithoutWorkspaceSize", kNull, "workspaceSize is null",
         Before([](OwnCall& own) { own.call.workspaceSize = nullptr; })},
        {"BeginWithoutExecutor", kNull, "executor is null",
         Before([](OwnCall& own) { own.call.executor = nullptr; })},
        {"FinishWithoutCall", kNull, "call is null",
         [](OwnCall& own) { return advstepFinishPlan(nullptr, own.views, &own.plan); }},
        {"FinishWithoutViews", kNull, "views is null",
         [](OwnCall& own) {
             EXPECT_TRUE(IsOk(own.Begin()));
             return advstepFinishPlan(&own.call, nullptr, &own.plan);
         }},
        {"FinishWithoutPlan", kNull, "plan is null",
         [](OwnCall& own) {
             EXPECT_TRUE(IsOk(own.Begin()));
             return advstepFinishPlan(&own.call, own.views, nullptr);
         }},
        {"FinishWithAnotherSize", kInner, "plan has structBytes 12; expected",
         Between([](OwnCall& own) { own.plan.structBytes = 12; })},
        {"FinishWithoutPayload", kNull, "plan->payload is null",
         Between([](OwnCall& own) { own.plan.payload = nullptr; })},
        {"FinishWithoutWorkspaceSize", kNull, "workspaceSize is null",
         Between([](OwnCall& own) { own.call.workspaceSize = nullptr; })},
        {"FinishWithoutExecutor", kNull, "executor is null",
         Between([](OwnCall& own) { own.call.executor = nullptr; })},
    };
}

using OwnPlannedTest = support::DeviceTest;

class OwnNullTest : public support::DeviceTest, public testing::WithParamInterface<WrongCall> {};

TEST_P(OwnNullTest, IsRefused) {
    constexpr int64_t kCount = 5;
    const support::DeviceBuffer inMemory(std::vector<int64_t>(kCount, 1)),
        outMemory(std::vector<int64_t>(kCount, -7));
    const support::Tensor in(support::TensorSpec{{kCount}, inMemory.Get(), ACL_INT64}),
        out(support::TensorSpec{{kCount}, outMemory.Get(), ACL_INT64});
    static int64_t add = 7000;  // an equal plan would be found again
    OwnCall own(in.Get(), nullptr, out.Get(), ++add, kCount);
    EXPECT_TRUE(IsError(GetParam().code, GetParam().phaseOne(own), {GetParam().text}));
    EXPECT_EQ(own.executor, nullptr);
}

// An equal plan that was made before is found by advstepBeginPlan, which sets the outputs.
TEST_F(OwnPlannedTest, OutputsOfAFoundPlanMayNotBeNull) {
    constexpr int64_t kCount = 5;
    const support::DeviceBuffer memory(std::vector<int64_t>(kCount, 1));
    const support::Tensor in(support::TensorSpec{{kCount}, memory.Get(), ACL_INT64});
    const support::DeviceBuffer outMemory(std::vector<int64_t>(kCount, 1));
    const support::Tensor out(support::TensorSpec{{kCount}, outMemory.Get(), ACL_INT64});
    OwnCall first(in.Get(), nullptr, out.Get(), 6999, kCount);
    ASSERT_TRUE(IsOk(first.Plan()));
    ASSERT_TRUE(IsOk(first.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    OwnCall without(in.Get(), nullptr, out.Get(), 6999, kCount);
    without.call.executor = nullptr;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, without.Begin(), {"executor is null"}));
    OwnCall unsized(in.Get(), nullptr, out.Get(), 6999, kCount);
    unsized.call.workspaceSize = nullptr;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, unsized.Begin(), {"workspaceSize is null"}));
    EXPECT_EQ(unsized.executor, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Table, OwnNullTest, testing::ValuesIn(WrongCalls()), support::CaseName());

}  // namespace
