// SPDX-License-Identifier: Apache-2.0
// Tensors of an operator of one's own that are left out, that have no elements, or that cannot be.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "advance_step/operator.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace conformance {
namespace {

namespace op = advance_step::op;

using support::DeviceBuffer;
using support::IsError;
using support::IsOk;

using Values = std::vector<int64_t>;

// out = self + 1, for tensors of any shape. Its plan trusts its checks, as that of the example.
struct CountedPayload {
    int64_t count;
    const int64_t* self;
    int64_t* out;
};

void RunCounted(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const CountedPayload*>(payload);
    for (int64_t i = core.index; i < p.count; i += core.count) {
        p.out[i] = p.self[i] + 1;
    }
}

struct Counted {
    using Payload = CountedPayload;
    static constexpr const char kName[] = "aclnnCounted";
    static constexpr op::Signature<2> kTensors = {{
        {"self",
         op::Access::kRead,
         op::Only(ACL_INT64),
         {op::Shape::Any()},
         offsetof(Payload, self)},
        {"out",
         op::Access::kWritten,
         op::Only(ACL_INT64),
         {op::Shape::Any()},
         offsetof(Payload, out)},
    }};
    static constexpr const char* kAttributes[] = {"isChecked"};

    static op::Status Plan(const op::Request& request, bool isChecked, op::Planned<Payload>* plan) {
        static const op::KernelProgram program =
            op::MakeKernelProgram(kName, nullptr, {&RunCounted});
        if (isChecked) {
            ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kTensors>(request.views));
        }
        ++plans;
        plan->payload.count = op::ElementsOf(request.views[0]);
        plan->program = &program;
        plan->coreCount = op::CutRows(plan->payload.count, 1).count;
        plan->rows = isChecked ? plan->payload.count : -plan->payload.count;
        return {};
    }
    static inline int plans = 0;
};

}  // namespace
}  // namespace conformance

ADVSTEP_OPERATOR(aclnnCounted, conformance::Counted,
                 (const aclTensor* self, aclTensor* out, bool isChecked), (self, out, isChecked))

namespace conformance {
namespace {

class OwnTensorTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        DeviceTest::SetUp();
        in_ = DeviceBuffer(Values{1, 2, 3, 4});
        bias_ = DeviceBuffer(Values{10, 20, 30, 40});
        out_ = DeviceBuffer(Values(4, -7));
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer, const Values& shape = {4},
                                    const Values& strides = {}) {
        return support::Tensor(support::TensorSpec{shape, buffer.Get(), ACL_INT64, strides});
    }
    Values Out() const {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return out_.Download<int64_t>();
    }
    // Phase one of aclnnCounted for tensors of one shape, and phase two after a success.
    int RunCountedCall(const Values& shape, const Values& strides, bool isChecked = true) const {
        const auto self = TensorOf(in_, shape, strides), out = TensorOf(out_, shape, strides);
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        const int code =
            aclnnCountedGetWorkspaceSize(self.Get(), out.Get(), isChecked, &size, &executor);
        return code != 0 ? code : aclnnCounted(nullptr, size, executor, nullptr);
    }

    DeviceBuffer in_, bias_, out_;
};

// Phase one has not looked at it, so no later call may bring it in.
TEST_F(OwnTensorTest, ATensorThatWasLeftOutGetsNoAddress) {
    using SetCall = aclnnStatus (*)(aclOpExecutor*, size_t, aclTensor*, void*);
    const auto in = TensorOf(in_), bias = TensorOf(bias_), out = TensorOf(out_);
    support::OwnCall call(in.Get(), nullptr, out.Get(), 100, 4);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(call.executor)));
    Values host(4, 5000);
    for (const SetCall set :
         {&aclSetTensorAddr, &aclSetInputTensorAddr, &AclSetTensorAddr, &AclSetInputTensorAddr}) {
        for (void* const address : {bias_.Get(), out_.Get(), static_cast<void*>(host.data()),
                                    static_cast<void*>(nullptr)}) {
            EXPECT_TRUE(IsError(
                ACLNN_ERR_PARAM_INVALID, set(call.executor, 1, bias.Get(), address),
                {"TensorAddr: index is 1, that of bias, which the call left out; expected that of "
                 "a tensor of the call"}));
        }
    }
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(Out(), (Values{101, 102, 103, 104}));
    EXPECT_TRUE(IsOk(aclSetTensorAddr(call.executor, 0, in.Get(), bias_.Get())));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(Out(), (Values{110, 120, 130, 140}));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(call.executor)));
    // The same executor, planned with the tensor, takes an address for it.
    support::OwnCall with(in.Get(), bias.Get(), out.Get(), 100, 4);
    ASSERT_TRUE(IsOk(with.Plan()));
    EXPECT_TRUE(IsOk(aclSetTensorAddr(with.executor, 1, bias.Get(), in_.Get())));
    ASSERT_TRUE(IsOk(with.Run(nullptr)));
    EXPECT_EQ(Out(), (Values{102, 104, 106, 108}));
}

// No elements have no gaps between them. The strides of torch are products of dims, 0 taken as 1.
TEST_F(OwnTensorTest, AnEmptyTensorMayHaveAnyStrides) {
    const std::vector<std::pair<Values, Values>> empty = {
        {{3, 0}, {}},           {{3, 0}, {1, 1}},
        {{0, 5}, {5, 1}},       {{0}, {7}},
        {{2, 0, 4}, {4, 4, 1}}, {{2, 0, 4}, {0, 4, 1}},
        {{0, 0}, {-3, 100}},    {{1, 2, 0, 3}, {9, 9, 9, 9}}};
    for (const auto& [shape, strides] : empty) {
        EXPECT_TRUE(IsOk(RunCountedCall(shape, strides)))
            << testing::PrintToString(shape) << testing::PrintToString(strides);
    }
    EXPECT_EQ(Out(), Values(4, -7));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunCountedCall({2, 2}, {1, 1}),
                        {"self has shape [2, 2] and strides [1, 1]; expected it contiguous"}));
}

// The caller is at fault, not the operator, whose plan does not see the dims.
TEST_F(OwnTensorTest, ANegativeDimIsRefusedBeforeThePlan) {
    const std::vector<std::pair<Values, std::string>> wrongs = {
        {{-3}, "self has shape [-3], strides [1] and offset 0"},
        {{-3, -2}, "self has shape [-3, -2], strides [-2, 1] and offset 0"},
        {{2, -2}, "self has shape [2, -2], strides [-2, 1] and offset 0"},
        {{-1, 2}, "self has shape [-1, 2], strides [2, 1] and offset 0"},
        {{-1, 0}, "self has shape [-1, 0], strides [0, 1] and offset 0"}};
    const int before = Counted::plans;
    for (const auto& [shape, says] : wrongs) {
        for (const bool isChecked : {true, false}) {
            EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunCountedCall(shape, {}, isChecked),
                                {"aclnnCountedGetWorkspaceSize: " + says}));
        }
    }
    EXPECT_EQ(Counted::plans, before);
}

// The plan has computed nonsense, but of elements without addresses.
TEST_F(OwnTensorTest, AWrongTensorIsToldBeforeTheWrongPlan) {
    const int64_t many = int64_t{1} << 31;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunCountedCall({many, many}, {}, false),
                        {"self has shape [2147483648, 2147483648]"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER, RunCountedCall({4}, {}, false),
                        {"the plan of operator aclnnCounted is wrong: rows is -4"}));
}

}  // namespace
}  // namespace conformance
