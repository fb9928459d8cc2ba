// SPDX-License-Identifier: Apache-2.0
// Nodes and operators of a graph: what can be read of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/graph_rules_fixture.h"

namespace {

using ge::GNode;
using ge::GNodePtr;
using graphs::Failed;
using graphs::MakeData;
using graphs::MakeGraphTensor;

std::string NameOf(const GNode& node) {
    ge::AscendString name;
    EXPECT_EQ(node.GetName(name), ge::GRAPH_SUCCESS);
    return name.GetString();
}

template <class Nodes>
std::vector<std::string> NamesOf(const Nodes& nodes) {
    std::vector<std::string> names;
    for (const auto& node : nodes) {
        names.push_back(NameOf(node));
    }
    return names;
}

// A constant feeds block_tables; a second AdvanceStep runs after the first and reads its lengths.
class GNodeTest : public graphs::GraphRulesTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        for (const char* name : {"input_tokens", "sampled_token_ids", "input_positions"}) {
            sources_.push_back(MakeData(name, static_cast<int64_t>(sources_.size())));
            advance_.SetInput(name, sources_.back());
        }
        table_.set_attr_value(MakeGraphTensor({2, 2}, {1, 2, 3, 4}));
        advance_.set_input_block_tables(table_);
        second_.set_input_seq_lens(advance_, "seq_lens").AddControlInput(advance_);
        second_.set_input_slot_mapping(advance_, "seq_lens");
        graph_.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{second_});
    }
    GNodePtr Find(const char* name) const { return graph_.FindNodeByName(name); }

    ge::op::Const table_{"table"};
    ge::op::AdvanceStep second_ = graphs::MakeAdvanceStep("second", 4, 3, 4);
    ge::Graph graph_{"nodes"};
};

TEST_F(GNodeTest, TheGraphHasItsOperators) {
    const std::vector<std::string> names = {
        "input_tokens", "sampled_token_ids", "input_positions", "advance", "table", "second"};
    EXPECT_EQ(NamesOf(graph_.GetAllNodes()), names);
    EXPECT_EQ(NamesOf(graph_.GetDirectNode()), names);
    EXPECT_TRUE(ge::Graph("empty").GetAllNodes().empty());
    EXPECT_EQ(Find("nobody"), nullptr);
    ASSERT_NE(Find("table"), nullptr);
    EXPECT_EQ(NameOf(*Find("table")), "table");
}

TEST_F(GNodeTest, OperatorsByNameAndType) {
    const ge::op::Data outside("outside");
    EXPECT_EQ(graph_.AddOp(outside), ge::GRAPH_SUCCESS);
    EXPECT_EQ(graph_.AddOp(advance_), ge::GRAPH_SUCCESS);
    std::vector<ge::AscendString> names = {"stale"};
    EXPECT_EQ(graph_.GetAllOpName(names), ge::GRAPH_SUCCESS);
    EXPECT_EQ(names,
              (std::vector<ge::AscendString>{"input_tokens", "sampled_token_ids", "input_positions",
                                             "advance", "table", "second", "outside"}));
    std::vector<ge::Operator> ops = {advance_};
    EXPECT_EQ(graph_.FindOpByType("Data", ops), ge::GRAPH_SUCCESS);
    EXPECT_EQ(ops.size(), 4U);
    EXPECT_EQ(graph_.FindOpByType("Nothing", ops), ge::GRAPH_SUCCESS);
    EXPECT_TRUE(ops.empty());
    EXPECT_EQ(graph_.FindOpByType(nullptr, ops), ge::GRAPH_FAILED);
}

TEST_F(GNodeTest, DataLinks) {
    const GNodePtr second = Find("second");
    int32_t seqLens = -1;
    EXPECT_EQ(second->GetInputIndexByName("seq_lens", seqLens), ge::GRAPH_SUCCESS);
    EXPECT_EQ(seqLens, 3);
    const auto [source, port] = second->GetInDataNodesAndPortIndexs(seqLens);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(NameOf(*source), "advance");
    EXPECT_EQ(port, 2);
    EXPECT_EQ(second->GetInDataNodesAndPortIndexs(0).first, nullptr);
    EXPECT_EQ(second->GetInDataNodesAndPortIndexs(-1).first, nullptr);
    EXPECT_EQ(second->GetInDataNodesAndPortIndexs(8).second, -1);
    const auto readers = source->GetOutDataNodesAndPortIndexs(2);
    ASSERT_EQ(readers.size(), 2U);
    EXPECT_EQ(NameOf(*readers[0].first), "second");
    EXPECT_EQ(readers[0].second, 3);
    EXPECT_EQ(readers[1].second, 4);
    EXPECT_TRUE(source->GetOutDataNodesAndPortIndexs(0).empty());
    EXPECT_TRUE(source->GetOutDataNodesAndPortIndexs(-1).empty());
    EXPECT_EQ(Find("table")->GetOutDataNodesAndPortIndexs(0).size(), 1U);
}

TEST_F(GNodeTest, ControlLinks) {
    ASSERT_EQ(Find("second")->GetInControlNodes().size(), 1U);
    EXPECT_EQ(NameOf(*Find("second")->GetInControlNodes()[0]), "advance");
    ASSERT_EQ(Find("advance")->GetOutControlNodes().size(), 1U);
    EXPECT_EQ(NameOf(*Find("advance")->GetOutControlNodes()[0]), "second");
    EXPECT_TRUE(Find("advance")->GetInControlNodes().empty());
    EXPECT_TRUE(Find("second")->GetOutControlNodes().empty());
}

TEST_F(GNodeTest, DescriptionsAndConstants) {
    const ge::TensorDesc desc(ge::Shape({4}), ge::FORMAT_ND, ge::DT_INT64);
    ASSERT_EQ(advance_.UpdateInputDesc("seq_lens", desc), ge::GRAPH_SUCCESS);
    ASSERT_EQ(advance_.UpdateOutputDesc("slot_mapping", desc), ge::GRAPH_SUCCESS);
    const GNodePtr advance = Find("advance");
    EXPECT_EQ(advance->GetInputsSize(), 8U);
    EXPECT_EQ(advance->GetOutputsSize(), 4U);
    ge::TensorDesc read;
    EXPECT_EQ(advance->GetInputDesc(3, read), ge::GRAPH_SUCCESS);
    EXPECT_EQ(read.GetDataType(), ge::DT_INT64);
    EXPECT_EQ(advance->GetInputDesc(2, read), ge::GRAPH_SUCCESS);
    EXPECT_EQ(read.GetDataType(), ge::DT_FLOAT);
    int32_t slots = 0;
    EXPECT_EQ(advance->GetOutputIndexByName("slot_mapping", slots), ge::GRAPH_SUCCESS);
    EXPECT_EQ(advance->GetOutputDesc(slots, read), ge::GRAPH_SUCCESS);
    EXPECT_EQ(read.GetShape().GetDims(), std::vector<int64_t>{4});
    EXPECT_EQ(advance->GetInputDesc(8, read), ge::GRAPH_FAILED);
    EXPECT_EQ(advance->GetOutputDesc(-1, read), ge::GRAPH_FAILED);
    EXPECT_EQ(advance->GetInputIndexByName("no_such", slots), ge::GRAPH_FAILED);
    EXPECT_EQ(advance->GetOutputIndexByName("no_such", slots), ge::GRAPH_FAILED);
    EXPECT_EQ(slots, 3);
    ge::Tensor tensor;
    EXPECT_EQ(advance->GetInputConstData(5, tensor), ge::GRAPH_SUCCESS);
    EXPECT_EQ(graphs::ValuesOf(std::vector<ge::Tensor>{tensor}),
              (std::vector<std::vector<int64_t>>{{1, 2, 3, 4}}));
    tensor.GetData()[0] = 9;  // a copy
    EXPECT_EQ(advance->GetInputConstData(5, tensor), ge::GRAPH_SUCCESS);
    EXPECT_EQ(tensor.GetData()[0], 1);
    EXPECT_EQ(advance->GetInputConstData(0, tensor), ge::GRAPH_FAILED);
    EXPECT_EQ(advance->GetInputConstData(6, tensor), ge::GRAPH_FAILED);
}

TEST_F(GNodeTest, Attributes) {
    const GNodePtr advance = Find("advance");
    int64_t blockSize = 0;
    EXPECT_EQ(advance->GetAttr("block_size", blockSize), ge::GRAPH_SUCCESS);
    EXPECT_EQ(blockSize, 4);
    float real = 0;
    EXPECT_EQ(advance->GetAttr("block_size", real), ge::GRAPH_FAILED);
    EXPECT_TRUE(advance->HasAttr("num_seqs"));
    EXPECT_FALSE(advance->HasAttr("no_such"));
    ge::AscendString type;
    EXPECT_EQ(advance->GetType(type), ge::GRAPH_SUCCESS);
    EXPECT_EQ(type, "AdvanceStep");
}

TEST_F(GNodeTest, AnEmptyNodeHasNothing) {
    GNode none;
    ge::AscendString text;
    ge::TensorDesc desc;
    ge::Tensor tensor;
    int32_t index = 5;
    EXPECT_EQ(none.GetName(text), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetType(text), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetInputsSize() + none.GetOutputsSize(), 0U);
    EXPECT_EQ(none.GetInputDesc(0, desc), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetOutputDesc(0, desc), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetInputConstData(0, tensor), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetInputIndexByName("x", index), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetOutputIndexByName("x", index), ge::GRAPH_FAILED);
    EXPECT_EQ(none.GetInDataNodesAndPortIndexs(0).first, nullptr);
    EXPECT_TRUE(none.GetOutDataNodesAndPortIndexs(0).empty());
    EXPECT_TRUE(none.GetInControlNodes().empty() && none.GetOutControlNodes().empty());
    EXPECT_FALSE(none.HasAttr("a"));
    EXPECT_EQ(index, 5);
}

// A node keeps the operators alive.
TEST_F(GNodeTest, ANodeOutlivesItsGraph) {
    GNodePtr node;
    {
        ge::op::Data data("data");
        ge::Graph graph("short");
        graph.SetInputs({data});
        node = graph.FindNodeByName("data");
    }
    EXPECT_EQ(NameOf(*node), "data");
}

class TargetTest : public graphs::GraphRulesTest {};

TEST_F(TargetTest, AreInTheGraph) {
    ge::Graph graph("targets");
    graph.SetTargets({advance_});  // before SetInputs
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
    EXPECT_EQ(Run(graph), graphs::OutputsOf(after_));
    for (const ge::Operator& outside : {ge::Operator(), ge::Operator(ge::op::Data("outside"))}) {
        ge::Graph bad("outside");
        bad.SetInputs(sources_).SetTargets({outside});
        EXPECT_FALSE(bad.IsValid());
        EXPECT_TRUE(Failed(Session().AddGraph(99, bad), {"E19999", "SetTargets"}));
        bad.SetTargets({});
        EXPECT_TRUE(bad.IsValid());
        EXPECT_TRUE(graphs::Succeeded(Session().AddGraphWithCopy(99, bad)));
        EXPECT_TRUE(graphs::Succeeded(Session().RemoveGraph(99)));
    }
}

}  // namespace
