// SPDX-License-Identifier: Apache-2.0
// Ties with the functions Choose and Infer of an update, tolerant ties, and ties of older
// libraries.
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

// state += by, or state -= by.
struct CountPayload {
    int64_t count;
    int64_t by;
    int64_t* state;
    const int64_t* unused;
};

void RunCount(const op::CoreContext& /*core*/, const void* payload) {
    const auto& p = *static_cast<const CountPayload*>(payload);
    for (int64_t i = 0; i < p.count; ++i) {
        p.state[i] += p.by;
    }
}

constexpr char kUpCall[] = "aclnnTestCountUp";
constexpr char kDownCall[] = "aclnnTestCountDown";
constexpr op::TensorArgument kState = {"state",
                                       op::Access::kWritten,
                                       op::Only(ACL_INT64),
                                       {op::Shape::Any()},
                                       offsetof(CountPayload, state)};
constexpr op::TensorArgument kUnused = {"unused",
                                        op::Access::kRead,
                                        op::Only(ACL_INT64),
                                        {op::Shape::Any()},
                                        offsetof(CountPayload, unused),
                                        op::Layout::kContiguous,
                                        op::Presence::kOptional};

template <int kSign>
op::Status PlanCount(const op::Request& request, int64_t by, op::Planned<CountPayload>* plan) {
    static const op::KernelProgram program =
        op::MakeKernelProgram(kSign > 0 ? kUpCall : kDownCall, nullptr, {&RunCount});
    plan->payload.count = op::ElementsOf(request.views[0]);
    plan->payload.by = kSign * by;
    plan->program = &program;
    plan->rows = plan->payload.count;
    return {};
}

struct CountDown {
    using Payload = CountPayload;
    static constexpr const auto& kName = kDownCall;
    static constexpr op::Signature<1> kTensors = {{kState}};
    static constexpr const char* kAttributes[] = {"by"};
    static constexpr auto Plan = &PlanCount<-1>;
};

// Counts down if the optional tensor is given, which that call does not take.
struct CountUp {
    using Payload = CountPayload;
    static constexpr const auto& kName = kUpCall;
    static constexpr op::Signature<2> kTensors = {{kState, kUnused}};
    static constexpr const char* kAttributes[] = {"by"};
    static constexpr bool kIsTolerant = true;
    static constexpr auto Plan = &PlanCount<1>;

    // The output has one axis; 7 gets a shape of another size.
    static op::Status Infer(const op::TensorView* views, int64_t by, op::InferredTensor* tensors) {
        const int64_t rows = op::ElementsOf(views[0]) + (by == 7 ? 1 : 0);
        tensors[0].Set(ACL_INT64, &rows, 1);
        return {};
    }
    static op::Status Choose(const op::TensorView* views, int64_t by, op::ChosenCalls* calls);
};

}  // namespace
}  // namespace graphs

ADVSTEP_OPERATOR(aclnnTestCountUp, graphs::CountUp,
                 (const aclTensor* state, const aclTensor* unused, int64_t by), (state, unused, by))
ADVSTEP_OPERATOR(aclnnTestCountDown, graphs::CountDown, (const aclTensor* state, int64_t by),
                 (state, by))
ADVSTEP_GRAPH_OPERATOR(TestCount, aclnnTestCountUp, graphs::CountUp)
ADVSTEP_GRAPH_OPERATOR(TestSilentCount, aclnnTestCountUp, graphs::CountUp)

namespace ge {

REG_OP(TestCount)
    .INPUT(state, TensorType({DT_INT64}))
    .OPTIONAL_INPUT(unused, TensorType({DT_INT64}))
    .OUTPUT(state, TensorType({DT_INT64}))
    .REQUIRED_ATTR(by, Int)
    .OP_END_FACTORY_REG(TestCount) REG_OP(TestSilentCount)
    .INPUT(state, TensorType({DT_INT64}))
    .REQUIRED_ATTR(by, Int)
    .ATTR(more, Int, 1)
    .OP_END_FACTORY_REG(TestSilentCount) REG_OP(TestOldCount)
    .INPUT(state, TensorType({DT_INT64}))
    .OUTPUT(state, TensorType({DT_INT64}))
    .REQUIRED_ATTR(by, Int)
    .OP_END_FACTORY_REG(TestOldCount)

}  // namespace ge

namespace graphs {
namespace {

op::Status CountUp::Choose(const op::TensorView* views, int64_t by, op::ChosenCalls* calls) {
    if (by < 0) {
        return op::Error(op::kTilingError, "by is ", by, "; expected by >= 0");
    }
    if (views[1].isPresent()) {
        calls->Take<CountDown, &aclnnTestCountDownGetWorkspaceSize, &aclnnTestCountDown>();
    }
    return {};
}

using Tensors = std::vector<ge::Tensor>;

class TiedChoiceTest : public GraphTest {
 protected:
    // Runs a graph of one operator, whose inputs of these names are {{10}, {20}} and {5}.
    ge::Status RunOne(const ge::Operator& op, const std::vector<const char*>& inputs) {
        Tensors tensors = {MakeGraphTensor({2, 1}, {10, 20}), MakeGraphTensor({1}, {5})};
        tensors.resize(inputs.size(), MakeGraphTensor({1}, {0}));
        results_.clear();
        const ge::Status added = Session().AddGraph(1, MakeGraph(op, inputs));
        const ge::Status ran =
            added != ge::SUCCESS ? added : Session().RunGraph(1, tensors, results_);
        Session().RemoveGraph(1);
        return ran;
    }
    Tensors results_;
};

TEST_F(TiedChoiceTest, AnOperatorChoosesItsCalls) {
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestCount("up").set_attr_by(3), {"state"})));
    EXPECT_EQ(ValuesOf(results_[0]), (std::vector<int64_t>{13, 23}));
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestCount("down").set_attr_by(3), {"state", "unused"})));
    EXPECT_EQ(ValuesOf(results_[0]), (std::vector<int64_t>{7, 17}));
    EXPECT_TRUE(
        Failed(RunOne(ge::op::TestCount("none").set_attr_by(-1), {"state"}),
               {"E19999", "Tiling func of op TestCount failed: by is -1; expected by >= 0"}));
}

TEST_F(TiedChoiceTest, AnUpdateHasTheInferredShape) {
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestCount("flat").set_attr_by(1), {"state"})));
    EXPECT_EQ(results_[0].GetTensorDesc().GetShape().GetDims(), (std::vector<int64_t>{2}));
    EXPECT_TRUE(Failed(RunOne(ge::op::TestCount("wide").set_attr_by(7), {"state"}),
                       {"E19999",
                        "operator wide: state has 16 bytes; expected the data type and "
                        "the 24 bytes of the inferred shape"}));
}

TEST_F(TiedChoiceTest, ATolerantOperatorTakesOtherIrs) {
    EXPECT_TRUE(Succeeded(RunOne(ge::op::TestSilentCount("silent").set_attr_by(1), {"state"})));
    EXPECT_TRUE(results_.empty());
}

// A library that was compiled before ties could choose has shorter ties.
TEST_F(TiedChoiceTest, AnOlderTieNeitherChoosesNorInfersUpdates) {
    static AdvStepGraphOperator older = advstepGraphOperatorOf_TestCount;
    older.structBytes = offsetof(AdvStepGraphOperator, choose);
    older.type = "TestOldCount";
    ASSERT_EQ(advstepTieGraphOperator(&older), ACLNN_SUCCESS);
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestOldCount("old").set_attr_by(-1), {"state"})));
    EXPECT_EQ(ValuesOf(results_[0]), (std::vector<int64_t>{9, 19}));
    EXPECT_EQ(results_[0].GetTensorDesc().GetShape().GetDims(), (std::vector<int64_t>{2, 1}));
}

}  // namespace
}  // namespace graphs
