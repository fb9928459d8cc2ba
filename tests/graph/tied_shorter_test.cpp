// SPDX-License-Identifier: Apache-2.0
// An operator with shorter forms in graphs: it may leave out the tensors that a shorter form lacks.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "advance_step/graph_operator.h"
#include "graph/graph_fixture.h"

namespace graphs {
namespace {

namespace op = advance_step::op;

// out = self * scale + bias.
struct ScalePayload {
    int64_t count;
    const int64_t* self;
    int64_t* out;
    const int64_t* scale;
    const int64_t* bias;
};

void RunScale(const op::CoreContext& /*core*/, const void* payload) {
    const auto& p = *static_cast<const ScalePayload*>(payload);
    for (int64_t i = 0; i < p.count; ++i) {
        p.out[i] =
            p.self[i] * (p.scale != nullptr ? p.scale[i] : 1) + (p.bias != nullptr ? p.bias[i] : 0);
    }
}

constexpr char kScaleCall[] = "aclnnTestScale";
constexpr op::TensorArgument RowOf(const char* name, op::Access access, size_t addressAt) {
    return {name, access, op::Only(ACL_INT64), {op::Shape::Any()}, addressAt};
}
constexpr op::TensorArgument kSelf = RowOf("self", op::Access::kRead, offsetof(ScalePayload, self));
constexpr op::TensorArgument kOut = RowOf("out", op::Access::kWritten, offsetof(ScalePayload, out));
constexpr op::TensorArgument kScale =
    RowOf("scale", op::Access::kRead, offsetof(ScalePayload, scale));
constexpr op::TensorArgument kBias = RowOf("bias", op::Access::kRead, offsetof(ScalePayload, bias));

int formOfLastPlan = 0;

template <int kForm>
op::Status PlanScale(const op::Request& request, op::Planned<ScalePayload>* plan) {
    static const op::KernelProgram program =
        op::MakeKernelProgram(kScaleCall, nullptr, {&RunScale});
    formOfLastPlan = kForm;
    plan->payload.count = op::ElementsOf(request.views[0]);
    plan->program = &program;
    plan->rows = plan->payload.count;
    return {};
}

struct PlainScale {
    using Payload = ScalePayload;
    static constexpr const auto& kName = kScaleCall;
    static constexpr op::Signature<2> kTensors = {{kSelf, kOut}};
    static constexpr auto Plan = &PlanScale<2>;
};
struct ScaleOnly {
    using Payload = ScalePayload;
    using WithFewerTensors = PlainScale;
    static constexpr const auto& kName = kScaleCall;
    static constexpr op::Signature<3> kTensors = {{kSelf, kOut, kScale}};
    static constexpr auto Plan = &PlanScale<3>;
};
struct ScaleAndBias {
    using Payload = ScalePayload;
    using WithFewerTensors = ScaleOnly;
    static constexpr const auto& kName = kScaleCall;
    static constexpr op::Signature<4> kTensors = {{kSelf, kOut, kScale, kBias}};
    static constexpr auto Plan = &PlanScale<4>;

    static op::Status Infer(const op::TensorView* views, op::InferredTensor* tensors) {
        tensors[1].SetLike(views[0]);
        return {};
    }
};

}  // namespace
}  // namespace graphs

ADVSTEP_OPERATOR(aclnnTestScale, graphs::ScaleAndBias,
                 (const aclTensor* self, aclTensor* out, const aclTensor* scale,
                  const aclTensor* bias),
                 (self, out, scale, bias))
ADVSTEP_GRAPH_OPERATOR(TestScale, aclnnTestScale, graphs::ScaleAndBias)
ADVSTEP_GRAPH_OPERATOR(TestPlainScale, aclnnTestScale, graphs::ScaleAndBias)
ADVSTEP_GRAPH_OPERATOR(TestNoSelfScale, aclnnTestScale, graphs::ScaleAndBias)

namespace ge {

#define TEST_INT64 TensorType({DT_INT64})
REG_OP(TestScale)
    .INPUT(self, TEST_INT64)
    .OPTIONAL_INPUT(scale, TEST_INT64)
    .OPTIONAL_INPUT(bias, TEST_INT64)
    .OUTPUT(out, TEST_INT64)
    .OP_END_FACTORY_REG(TestScale) REG_OP(TestPlainScale)
    .INPUT(self, TEST_INT64)
    .OUTPUT(out, TEST_INT64)
    .OP_END_FACTORY_REG(TestPlainScale) REG_OP(TestNoSelfScale)
    .OPTIONAL_INPUT(self, TEST_INT64)
    .INPUT(scale, TEST_INT64)
    .OUTPUT(out, TEST_INT64)
    .OP_END_FACTORY_REG(TestNoSelfScale)

}  // namespace ge

namespace graphs {
namespace {

using Rows = std::vector<int64_t>;
using Tensors = std::vector<ge::Tensor>;

class TiedShorterTest : public GraphTest {
 protected:
    // Runs a graph of one operator, whose inputs of these names are {2, 3}, {10, 20} and {5, 6}.
    ge::Status RunOne(const ge::Operator& op, const std::vector<const char*>& inputs) {
        const std::vector<Rows> values = {{2, 3}, {10, 20}, {5, 6}};
        Tensors tensors;
        for (size_t input = 0; input < inputs.size(); ++input) {
            tensors.push_back(MakeGraphTensor({2}, values[input]));
        }
        formOfLastPlan = 0;
        results_.clear();
        const ge::Status added = Session().AddGraph(1, MakeGraph(op, inputs));
        const ge::Status ran =
            added != ge::SUCCESS ? added : Session().RunGraph(1, tensors, results_);
        Session().RemoveGraph(1);
        return ran;
    }

    Tensors results_;
};

TEST_F(TiedShorterTest, AnOperatorMayLeaveOutItsLastTensors) {
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestScale("all"), {"self", "scale", "bias"})));
    EXPECT_EQ(formOfLastPlan, 4);
    EXPECT_EQ(ValuesOf(results_[0]), (Rows{25, 66}));
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestScale("scaled"), {"self", "scale"})));
    EXPECT_EQ(formOfLastPlan, 3);
    EXPECT_EQ(ValuesOf(results_[0]), (Rows{20, 60}));
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestScale("plain"), {"self"})));
    EXPECT_EQ(formOfLastPlan, 2);
    EXPECT_EQ(ValuesOf(results_[0]), (Rows{2, 3}));
}

TEST_F(TiedShorterTest, AnIrMayHaveTheTensorsOfTheShortestFormOnly) {
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestPlainScale("plain"), {"self"})));
    EXPECT_EQ(ValuesOf(results_[0]), (Rows{2, 3}));
}

TEST_F(TiedShorterTest, ATensorThatEveryFormHasIsRequired) {
    EXPECT_TRUE(Failed(RunOne(ge::op::TestNoSelfScale("node"), {"scale"}),
                       {"input self of operator node of type TestNoSelfScale is not linked"}));
    EXPECT_TRUE(results_.empty());
}

TEST_F(TiedShorterTest, ATensorBeforeAGivenOneIsMissing) {
    EXPECT_TRUE(Failed(RunOne(ge::op::TestScale("gap"), {"self", "bias"}),
                       {"operator gap, code 161001", "scale is null"}));
    EXPECT_TRUE(results_.empty());
}

}  // namespace
}  // namespace graphs
