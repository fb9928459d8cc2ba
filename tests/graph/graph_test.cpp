// SPDX-License-Identifier: Apache-2.0
// What is in a graph, and what it returns.
#include <gtest/gtest.h>

#include "graph/graph_rules_fixture.h"

namespace {

using namespace graphs;

TEST_F(GraphRulesTest, OutputsInTheOrderGiven) {
    ge::Graph graph("outputs");
    graph.SetInputs(sources_).SetOutputs(
        Selected{{advance_, {3, 0}}, {sources_[1], {}}, {advance_, {2, 2}}});
    EXPECT_EQ(Run(graph), (std::vector<std::vector<int64_t>>{after_.slotMapping, after_.inputTokens,
                                                             data_.sampledTokenIds, after_.seqLens,
                                                             after_.seqLens}));
}

TEST_F(GraphRulesTest, OutputsByName) {
    ge::Graph graph("outputs");
    graph.SetInputs(sources_).SetOutputs(Named{{advance_, "seq_lens"}, {sources_[0], "y"}});
    EXPECT_EQ(Run(graph), (std::vector<std::vector<int64_t>>{after_.seqLens, data_.inputTokens}));
}

TEST_F(GraphRulesTest, StrangersAndBadIndicesAreSkipped) {
    const auto stranger = MakeData("stranger", 0);
    ge::Graph graph("outputs");
    graph.SetInputs(sources_).SetOutputs(
        Selected{{stranger, {0}}, {advance_, {4, 1}}, {ge::Operator(), {}}});
    EXPECT_TRUE(graph.IsValid());
    EXPECT_EQ(Run(graph), std::vector<std::vector<int64_t>>{after_.inputPositions});
    graph = ge::Graph("named");
    graph.SetInputs(sources_).SetOutputs(Named{{stranger, "nothing"}});
    EXPECT_TRUE(Run(graph).empty());
}

TEST_F(GraphRulesTest, ABadOutputNameIsAFault) {
    ge::Graph graph("outputs");
    graph.SetInputs(sources_).SetOutputs(Named{{advance_, "block_tables"}});
    EXPECT_FALSE(graph.IsValid());
    EXPECT_TRUE(Failed(Session().AddGraph(1, graph), {"E19999", "block_tables", "advance"}));
}

TEST_F(GraphRulesTest, WithoutOutputsARunReturnsNothing) {
    ge::Graph graph("none");
    graph.SetOutputs(std::vector<ge::Operator>{advance_});  // before SetInputs: no effect
    graph.SetInputs(sources_);
    EXPECT_TRUE(Run(graph).empty());
}

TEST_F(GraphRulesTest, ALaterSetOutputsReplaces) {
    ge::Graph graph("outputs");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
    graph.SetOutputs(Selected{{advance_, {2}}});
    EXPECT_EQ(Run(graph), std::vector<std::vector<int64_t>>{after_.seqLens});
}

// One source leads to all that is linked with it, and the order of Data is that of discovery.
TEST_F(GraphRulesTest, EverythingReachableIsInTheGraph) {
    for (ge::Operator& source : sources_) {
        source.SetAttr("index", int64_t{0});
    }
    ge::Graph graph("reached");
    graph.SetInputs({sources_[5]}).SetOutputs(std::vector<ge::Operator>{advance_});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    std::vector<ge::Tensor> inputs = graphs::TensorsOf(data_);
    inputs.insert(inputs.begin(), inputs.back());  // block_tables comes first now
    inputs.pop_back();
    std::vector<ge::Tensor> outputs;
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
}

// Operators stay in the graph when the program has let go of them, before SetInputs or after.
TEST_F(GraphRulesTest, OwnsItsOperators) {
    ge::Graph graph("owner");
    (void)MakeLinked("second");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
    sources_.clear();
    advance_ = ge::op::AdvanceStep();
    ge::Operator found;
    ASSERT_EQ(graph.FindOpByName("second", found), ge::GRAPH_SUCCESS);
    EXPECT_EQ(found.GetOutputsSize(), 4U);
    EXPECT_EQ(Run(graph), OutputsOf(after_));
}

// A permutation of indices is obeyed; everything else is the order of SetInputs.
TEST_F(GraphRulesTest, DataIndices) {
    struct Case {
        std::vector<int64_t> indices;  // of the Data that feed the operator, in its order
        std::vector<size_t> feeds;     // tensor i goes to this input
    };
    const std::vector<Case> cases = {
        {{5, 4, 3, 2, 1, 0}, {5, 4, 3, 2, 1, 0}}, {{0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}},
        {{1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5}}, {{-1, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5}},
        {{2, 0, 1, 5, 3, 4}, {1, 2, 0, 4, 5, 3}}, {{5, 5, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5}}};
    for (const Case& test : cases) {
        SCOPED_TRACE(testing::PrintToString(test.indices));
        for (size_t i = 0; i < sources_.size(); ++i) {
            sources_[i].SetAttr("index", test.indices[i]);
        }
        ge::Graph graph("indices");
        graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
        ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId_, graph)));
        std::vector<ge::Tensor> inputs;
        for (const size_t feed : test.feeds) {
            inputs.push_back(graphs::TensorsOf(data_)[feed]);
        }
        std::vector<ge::Tensor> outputs;
        ASSERT_TRUE(Succeeded(Session().RunGraph(graphId_, inputs, outputs)));
        EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
    }
}

TEST_F(GraphRulesTest, NamesAndAddOp) {
    ge::Graph graph("named");
    ge::AscendString name;
    EXPECT_EQ(graph.GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "named");
    EXPECT_EQ(ge::Graph().GetName(name), ge::GRAPH_SUCCESS);
    EXPECT_EQ(name, "");
    ge::Operator found;
    EXPECT_EQ(graph.FindOpByName("extra", found), ge::GRAPH_FAILED);
    EXPECT_EQ(graph.AddOp(ge::Operator()), ge::GRAPH_FAILED);
    const auto extra = MakeData("extra", 0);
    EXPECT_EQ(graph.AddOp(extra), ge::GRAPH_SUCCESS);
    EXPECT_EQ(graph.AddOp(extra), ge::GRAPH_SUCCESS);
    EXPECT_EQ(graph.AddOp(MakeData("extra", 0)), ge::GRAPH_FAILED);
    EXPECT_EQ(graph.FindOpByName("extra", found), ge::GRAPH_SUCCESS);
    EXPECT_FALSE(graph.IsValid());
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
    const ge::Graph copy = graph;  // one graph
    EXPECT_TRUE(copy.IsValid());
    EXPECT_EQ(copy.FindOpByName("advance", found), ge::GRAPH_SUCCESS);
    EXPECT_EQ(found.GetOutputsSize(), 4U);
    EXPECT_EQ(copy.FindOpByName(nullptr, found), ge::GRAPH_FAILED);
    EXPECT_EQ(Run(graph), OutputsOf(after_));  // extra is not in it: six tensors are enough
}

TEST_F(GraphRulesTest, NamesAreUniqueAndMayBeEmpty) {
    ge::Graph graph("unique");
    const auto advance = MakeLinked("");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance});
    EXPECT_EQ(Run(graph), OutputsOf(after_));
    MakeAdvanceStep("", 4, 3, 4).SetInput("seq_lens", sources_[3]);
    ge::Graph twice("twice");
    twice.SetInputs(sources_);
    EXPECT_TRUE(Failed(Session().AddGraph(99, twice), {"E13009", "twice"}));
    EXPECT_TRUE(Session().IsGraphNeedRebuild(99));
}

// AddGraph takes the graph as it is; a later change of an operator is not seen.
TEST_F(GraphRulesTest, AddGraphRecords) {
    ge::Graph graph("recorded");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{advance_});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    advance_.set_attr_num_seqs(1000);
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Succeeded(Session().RunGraph(1, graphs::TensorsOf(data_), outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
}

TEST_F(GraphRulesTest, ALinkWithAStrangerAfterSetInputsIsRefused) {
    for (const bool isControl : {false, true}) {
        auto advance = MakeAdvanceStep(isControl ? "controlled" : "linked", 4, 3, 4);
        for (size_t i = 0; i < AdvanceStepInputs().size(); ++i) {
            advance.SetInput(AdvanceStepInputs()[i], sources_[i]);
        }
        ge::Graph graph("late");
        graph.SetInputs(sources_).SetOutputs(Selected{{advance, {2}}});
        const auto stranger = MakeData("stranger", 6);
        if (isControl) {
            advance.AddControlInput(stranger);
        } else {
            advance.SetInput("spec_token", stranger);
        }
        ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId_, graph)));
        std::vector<ge::Tensor> outputs;
        EXPECT_TRUE(Failed(Session().RunGraph(graphId_, graphs::TensorsOf(data_), outputs),
                           {"E19999", "was linked with stranger after SetInputs"}));
    }
}

}  // namespace
