// SPDX-License-Identifier: Apache-2.0
// The limits of an operator of one's own: more phases or cores than there may be are refused.
#include <gtest/gtest.h>

#include <vector>

#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace conformance {
namespace {

namespace op = advance_step::op;

using support::IsOk;
using Values = std::vector<int64_t>;

class OwnLimitsTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCount = 3;

    void SetUp() override {
        DeviceTest::SetUp();
        in_ = support::DeviceBuffer(Values{1, 2, 3});
        out_ = support::DeviceBuffer(Values(kCount, -7));
    }
    static support::Tensor TensorOf(const support::DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{kCount}, buffer.Get(), ACL_INT64});
    }

    support::DeviceBuffer in_, out_;
};

void AddOne(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const support::OwnPayload*>(payload);
    for (int64_t i = core.index; i < p.count; i += 4) {
        p.out[i] += 1;
    }
}

TEST_F(OwnLimitsTest, SixPhasesRunAndSevenAreRefused) {
    static const op::KernelProgram kSix = op::MakeKernelProgram(
        "aclnnOwn", nullptr, {&support::CommitOwn, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne});
    static const op::KernelProgram kSeven = op::MakeKernelProgram(
        "aclnnOwn", nullptr,
        {&support::CommitOwn, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne});
    const auto in = TensorOf(in_), out = TensorOf(out_);
    support::OwnCall six(in.Get(), nullptr, out.Get(), 600, kCount);
    six.plan.program = &kSix;
    ASSERT_TRUE(IsOk(six.Plan()));
    ASSERT_TRUE(IsOk(six.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), (Values{606, 607, 608}));
    support::OwnCall seven(in.Get(), nullptr, out.Get(), 700, kCount);
    seven.plan.program = &kSeven;
    EXPECT_EQ(seven.Plan(), ACLNN_ERR_INNER);
    EXPECT_EQ(support::TakeMessage(),
              "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: its program has 7 "
              "phases; expected 1 to 6");
    EXPECT_EQ(seven.executor, nullptr);
}

// The limit of the plan is what the operator was told, whatever a thread sets meanwhile.
TEST_F(OwnLimitsTest, APlanUsesNoMoreCoresThanItsEnvironmentHas) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    support::OwnCall more(in.Get(), nullptr, out.Get(), 900, kCount);
    ASSERT_TRUE(IsOk(more.Begin()));
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_EQ(more.Finish(), ACLNN_ERR_INNER);
    EXPECT_EQ(support::TakeMessage(),
              "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: coreCount is 4; "
              "expected 0 <= coreCount <= the environment's vectorCores = 3");
    EXPECT_EQ(more.executor, nullptr);
    support::OwnCall many(in.Get(), nullptr, out.Get(), 901, kCount);
    ASSERT_TRUE(IsOk(many.Begin()));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    EXPECT_TRUE(IsOk(many.Finish()));
    EXPECT_EQ(aclDestroyAclOpExecutor(many.executor), 0);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
}

}  // namespace
}  // namespace conformance
