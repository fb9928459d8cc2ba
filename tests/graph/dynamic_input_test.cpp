// SPDX-License-Identifier: Apache-2.0
// Links of dynamic inputs: those that were created, and the fault of those that were not.
#include <gtest/gtest.h>

#include "graph/graph_parts.h"

namespace ge {
REG_OP(Gathers).INPUT(first, T).DYNAMIC_INPUT(x, T).INPUT(last, T).OUTPUT(y, T).OP_END_FACTORY_REG(
    Gathers)
}  // namespace ge

namespace {

using graphs::Failed;
using graphs::MakeData;

class DynamicInputTest : public graphs::GraphTest {
 protected:
    ge::Graph MakeGraph() {
        ge::Graph graph("dynamic");
        graph.SetInputs({data_}).SetOutputs(std::vector<ge::Operator>{op_});
        return graph;
    }

    ge::op::Data data_ = MakeData("data", 0);
    ge::op::Gathers op_{"gathers"};
};

TEST_F(DynamicInputTest, ALinkWithoutCreationIsAFault) {
    op_.set_dynamic_input_x(0, data_);
    EXPECT_TRUE(Failed(Session().AddGraph(1, MakeGraph()),
                       {"E19999", "x0", "gathers", "create_dynamic_input_x"}));
    EXPECT_TRUE(Session().IsGraphNeedRebuild(1));
}

TEST_F(DynamicInputTest, ALinkPastTheNumberIsAFault) {
    op_.create_dynamic_input_x(2).set_dynamic_input_x(1, data_).set_dynamic_input_x(2, data_, "y");
    EXPECT_TRUE(Failed(Session().AddGraph(1, MakeGraph()),
                       {"E19999", "x2", "gathers", "has 2 inputs", "at least 3"}));
}

// No link is left that would bring the operator into the graph.
TEST_F(DynamicInputTest, ALinkWithNothingIsAFault) {
    ge::Operator nothing;
    op_.set_dynamic_input_x(0, nothing);
    EXPECT_TRUE(Failed(Session().AddGraph(1, MakeGraph()), {"E19999", "x0", "gathers"}));
}

TEST_F(DynamicInputTest, AnyFaultyLinkKeepsTheOperatorInTheGraph) {
    op_.SetInput("no_such", data_);
    EXPECT_TRUE(graphs::Succeeded(Session().AddGraph(1, MakeGraph())));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, {graphs::MakeGraphTensor({1}, {5})}, outputs),
                       {"E19999", "no_such", "gathers"}));
}

TEST_F(DynamicInputTest, CreatedInputsHaveTheirPlaces) {
    const ge::TensorDesc desc = graphs::Desc({3}, ge::DT_INT8);
    EXPECT_EQ(op_.UpdateDynamicInputDesc("x", 0, desc), ge::GRAPH_FAILED);
    op_.create_dynamic_input_x(1).create_dynamic_input_x(3);
    EXPECT_EQ(op_.GetInputsSize(), 5U);
    EXPECT_EQ(op_.UpdateDynamicInputDesc("x", 2, desc), ge::GRAPH_SUCCESS);
    EXPECT_EQ(op_.GetInputDescByName("x2").GetDataType(), ge::DT_INT8);
    EXPECT_EQ(op_.UpdateDynamicInputDesc("x", 3, desc), ge::GRAPH_FAILED);
    EXPECT_EQ(op_.UpdateDynamicInputDesc(nullptr, 0, desc), ge::GRAPH_FAILED);
    ge::op::Gathers before("before");
    before.create_dynamic_input_x(2, false);
    EXPECT_EQ(before.GetInputsSize(), 4U);
}

}  // namespace
