// SPDX-License-Identifier: Apache-2.0
// Variables: the state of a session, from run to run and from graph to graph.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "graph/device_tensors.h"

namespace {

using namespace graphs;

class VariableTest : public graphs::GraphTest {
 protected:
    std::vector<ge::Tensor> Inputs() const {
        return {MakeGraphTensor({3, 1}, data_.sampledTokenIds),
                MakeGraphTensor({4, 4}, data_.blockTables)};
    }

    const reference::AdvanceStepData data_ = graphs::SmallBatch();
    std::vector<ge::Tensor> outputs_;
};

TEST_F(VariableTest, KeepStateAcrossRuns) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeDecodeGraph(data_))));
    EXPECT_EQ(StateOf(Session()), OutputsOf(data_));  // before any run
    auto expected = data_;
    for (int step = 0; step < 3; ++step) {
        ASSERT_TRUE(Succeeded(Session().RunGraph(1, Inputs(), outputs_)));
        EXPECT_TRUE(outputs_.empty());
        expected = Advanced(expected);
        EXPECT_EQ(StateOf(Session()), OutputsOf(expected)) << step;
    }
}

TEST_F(VariableTest, AreSharedByTheGraphsOfASession) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeDecodeGraph(data_))));
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, MakeDecodeGraph(data_, true))));
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, Inputs(), outputs_)));
    ASSERT_TRUE(Succeeded(Session().RunGraph(2, Inputs(), outputs_)));
    const auto expected = Advanced(Advanced(data_));
    EXPECT_EQ(ValuesOf(outputs_), OutputsOf(expected));
    EXPECT_EQ(StateOf(Session()), OutputsOf(expected));
    ge::Session other({});
    ASSERT_TRUE(Succeeded(other.AddGraph(1, MakeDecodeGraph(data_))));
    EXPECT_EQ(StateOf(other), OutputsOf(data_));
}

TEST_F(VariableTest, AFailedRunChangesNothing) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeDecodeGraph(data_))));
    auto inputs = Inputs();
    inputs[1] = MakeGraphTensor({4, 4}, std::vector<int64_t>(16, -1));
    EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, outputs_), {"507035"}));
    EXPECT_EQ(StateOf(Session()), OutputsOf(data_));
}

// Two steps in one graph, of which the second fails.
TEST_F(VariableTest, AFailureOfALaterOperatorChangesNothing) {
    auto first = graphs::MakeAdvanceStep("first", 4, 3, 4);
    auto second = graphs::MakeAdvanceStep("second", 4, 3, 4);
    std::vector<ge::Operator> data;
    for (const char* name : {"sampled", "tables", "badTables"}) {
        data.push_back(graphs::MakeData(name, static_cast<int64_t>(data.size())));
    }
    auto lengths = MakeVariable("lengths", data_.seqLens);
    auto tokens = MakeVariable("tokens", data_.inputTokens);
    auto positions = MakeVariable("positions", data_.inputPositions);
    auto slots = MakeVariable("slots", data_.slotMapping);
    first.set_input_seq_lens(lengths).set_input_input_tokens(tokens);
    first.set_input_input_positions(positions).set_input_slot_mapping(slots);
    first.SetInput("sampled_token_ids", data[0]).SetInput("block_tables", data[1]);
    for (const char* name : {"seq_lens", "input_tokens", "input_positions", "slot_mapping"}) {
        second.SetInput(name, first, name);
    }
    second.SetInput("sampled_token_ids", data[0]).SetInput("block_tables", data[2]);
    ge::Graph graph("two steps");
    // The first step's lengths are read by others: the variable still becomes the second step's.
    graph.SetInputs(data).SetOutputs(std::vector<std::pair<ge::Operator, ge::AscendString>>{
        {first, "seq_lens"}, {lengths, "y"}});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    auto inputs = Inputs();
    inputs.push_back(MakeGraphTensor({4, 4}, std::vector<int64_t>(16, -1)));
    EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, outputs_), {"507035", "second"}));
    EXPECT_EQ(StateOf(Session()), OutputsOf(data_));
    inputs[2] = inputs[1];
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, outputs_)));
    EXPECT_EQ(StateOf(Session()), OutputsOf(Advanced(Advanced(data_))));
    EXPECT_EQ(ValuesOf(outputs_),
              (std::vector<std::vector<int64_t>>{Advanced(data_).seqLens, data_.seqLens}));
}

TEST_F(VariableTest, StartAsZerosWithoutAValue) {
    const ge::TensorDesc desc(ge::Shape({3}), ge::FORMAT_ND, ge::DT_INT64);
    for (const bool isOutput : {true, false}) {
        ge::op::Variable zeros(isOutput ? "y" : "x");
        EXPECT_EQ(isOutput ? zeros.update_output_desc_y(desc) : zeros.update_input_desc_x(desc),
                  ge::GRAPH_SUCCESS);
        ge::Graph graph("zeros");
        graph.SetInputs({zeros}).SetOutputs(std::vector<ge::Operator>{zeros});
        ASSERT_TRUE(Succeeded(Session().AddGraph(isOutput, graph)));
        ASSERT_TRUE(Succeeded(Session().RunGraph(isOutput, {}, outputs_)));
        EXPECT_EQ(ValuesOf(outputs_), (std::vector<std::vector<int64_t>>{{0, 0, 0}}));
    }
}

TEST_F(VariableTest, Rules) {
    const auto run = [&](const ge::Graph& graph, uint32_t id) {
        EXPECT_TRUE(Succeeded(Session().AddGraph(id, graph)));
        return Session().RunGraph(id, {}, outputs_);
    };
    const auto graphOf = [](const ge::Operator& op) {
        ge::Graph graph("of one");
        graph.SetInputs({op}).SetOutputs(std::vector<ge::Operator>{op});
        return graph;
    };
    ASSERT_TRUE(Succeeded(run(graphOf(MakeVariable("state", {1, 2})), 1)));
    EXPECT_TRUE(Failed(run(graphOf(MakeVariable("state", {1, 2, 3})), 2),
                       {"E13025", "state", "[3]", "[2]", "another graph"}));
    EXPECT_TRUE(Failed(Session().BuildGraph(2, {}), {"E13025", "state", "another graph"}));
    EXPECT_TRUE(Failed(Session().CompileGraph(2), {"E13025", "state", "another graph"}));
    EXPECT_EQ(Session().GetCompiledGraphSummary(2), nullptr);
    ge::op::Variable unknown("unknown");
    EXPECT_EQ(
        unknown.update_output_desc_y(ge::TensorDesc(ge::Shape({-1}), ge::FORMAT_ND, ge::DT_INT64)),
        ge::GRAPH_SUCCESS);
    EXPECT_TRUE(Failed(run(graphOf(unknown), 3), {"E13025", "unknown", "[-1]"}));
    ge::op::Variable large("large");  // 2^64 - 2 bytes, which rounding up makes 0
    EXPECT_EQ(large.update_output_desc_y(ge::TensorDesc(
                  ge::Shape({std::numeric_limits<int64_t>::max(), 2}), ge::FORMAT_ND, ge::DT_INT8)),
              ge::GRAPH_SUCCESS);
    EXPECT_TRUE(Failed(run(graphOf(large), 4), {"E13025", "large", "fewer than 2^63 bytes"}));
    std::vector<ge::Tensor> tensors = {ge::Tensor()};
    EXPECT_TRUE(Failed(Session().GetVariables({"large"}, tensors), {"E13025", "fewer than 2^63"}));
    EXPECT_TRUE(Failed(Session().GetVariables({"state", "nobody"}, tensors), {"E10062", "nobody"}));
    EXPECT_EQ(tensors.size(), 1U);
    EXPECT_TRUE(Succeeded(Session().GetVariables(std::vector<std::string>{"state"}, tensors)));
    EXPECT_EQ(ValuesOf(tensors), (std::vector<std::vector<int64_t>>{{1, 2}}));
}

TEST_F(VariableTest, TwoOperatorsCannotUpdateOneState) {
    auto lengths = MakeVariable("lengths", data_.seqLens);
    std::vector<ge::Operator> sources;
    for (const char* name : graphs::AdvanceStepInputs()) {
        sources.push_back(graphs::MakeData(name, static_cast<int64_t>(sources.size())));
    }
    sources[3] = lengths;
    for (const char* name : {"one", "two"}) {
        auto op = graphs::MakeAdvanceStep(name, 4, 3, 4);
        for (size_t i = 0; i < sources.size(); ++i) {
            op.SetInput(graphs::AdvanceStepInputs()[i], sources[i]);
        }
    }
    ge::Graph graph("both");
    graph.SetInputs(sources);
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    auto inputs = graphs::TensorsOf(data_);
    inputs.erase(inputs.begin() + 3);
    EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, outputs_),
                       {"E19999", "seq_lens", "two", "lengths", "expected one"}));
}

TEST_F(VariableTest, ADeviceResetKeepsTheState) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeDecodeGraph(data_))));
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, Inputs(), outputs_)));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, Inputs(), outputs_)));
    EXPECT_EQ(StateOf(Session()), OutputsOf(Advanced(Advanced(data_))));
}

// In RunGraph a RefData is a Data: its tensor does not change.
TEST_F(VariableTest, RefDataIsACopyInRunGraph) {
    auto op = graphs::MakeAdvanceStep("advance", 4, 3, 4);
    const auto sources = graphs::LinkReferences(&op);
    ge::Graph graph("references");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    const auto inputs = graphs::TensorsOf(data_);
    const auto before = ValuesOf(inputs);
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, outputs_)));
    EXPECT_EQ(ValuesOf(outputs_), OutputsOf(Advanced(data_)));
    EXPECT_EQ(ValuesOf(inputs), before);
}

}  // namespace
