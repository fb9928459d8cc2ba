// SPDX-License-Identifier: Apache-2.0
// Compiled graphs: their summaries, and their runs on streams.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "graph/stream_run_fixture.h"

namespace {

using namespace graphs;

TEST_F(StreamRunTest, CompiledGraphs) {
    const ge::TensorDesc vector(ge::Shape({4}), ge::FORMAT_ND, ge::DT_INT64);
    const ge::TensorDesc column(ge::Shape({3, 1}), ge::FORMAT_ND, ge::DT_INT64);
    const ge::TensorDesc table(ge::Shape({4, 4}), ge::FORMAT_ND, ge::DT_INT64);
    auto op = graphs::MakeAdvanceStep("advance", 4, 3, 4);
    std::vector<ge::Operator> sources;
    for (const char* name : graphs::AdvanceStepInputs()) {
        const size_t place = sources.size();
        ge::op::RefData data(name);
        data.set_attr_index(static_cast<int64_t>(place));
        data.update_output_desc_y(place == 1 ? column : place == 5 ? table : vector);
        sources.push_back(data);
        if (place == 5) {
            sources.back() = ge::op::Const("table").set_attr_value(
                graphs::MakeGraphTensor({4, 4}, data_.blockTables));
        }
        op.SetInput(name, sources.back());
    }
    ge::Graph graph("compiled");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    EXPECT_EQ(Session().GetCompiledGraphSummary(1), nullptr);
    EXPECT_TRUE(Failed(Session().LoadGraph(1, {}, stream_), {"E19999", "not compiled"}));
    ASSERT_TRUE(Succeeded(Session().CompileGraph(1)));
    const auto summary = Session().GetCompiledGraphSummary(1);
    ASSERT_NE(summary, nullptr);
    EXPECT_TRUE(summary->IsStatic());
    size_t size = 1;
    EXPECT_EQ(summary->GetConstMemorySize(size), ge::SUCCESS);
    EXPECT_EQ(size, 128U);
    EXPECT_EQ(summary->GetFeatureMemorySize(size), ge::SUCCESS);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(summary->GetFixedFeatureMemorySize(size), ge::SUCCESS);
    EXPECT_EQ(summary->GetRefreshableFeatureMemorySize(size), ge::SUCCESS);
    EXPECT_EQ(size, 0U);
    EXPECT_EQ(summary->GetStreamNum(size), ge::SUCCESS);
    EXPECT_EQ(size, 1U);
    EXPECT_EQ(summary->GetEventNum(size), ge::SUCCESS);
    EXPECT_EQ(size, 0U);
    bool isRefreshable = true;
    EXPECT_EQ(summary->GetFeatureMemoryBaseRefreshable(isRefreshable), ge::SUCCESS);
    EXPECT_FALSE(isRefreshable);
    std::vector<ge::Shape> shapes;
    EXPECT_EQ(summary->GetOutputShapes(shapes), ge::SUCCESS);
    ASSERT_EQ(shapes.size(), 4U);
    EXPECT_EQ(shapes[2].GetDims(), std::vector<int64_t>{4});
    std::vector<ge::DataType> types;
    EXPECT_EQ(summary->GetOutputDtypes(types), ge::SUCCESS);
    EXPECT_EQ(types, std::vector<ge::DataType>(4, ge::DT_INT64));
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    EXPECT_EQ(summary->GetIOIndexesWithSameAddr(pairs), ge::SUCCESS);
    EXPECT_EQ(pairs, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}, {2, 1}, {3, 2}, {4, 3}}));
    ASSERT_TRUE(Succeeded(Session().LoadGraph(1, {}, stream_)));
    EXPECT_TRUE(Failed(Session().LoadGraph(1, {}, stream_), {"E19999", "loaded already"}));
    memory_.pop_back();
    ASSERT_TRUE(Succeeded(Run(1, Of(memory_), Of(results_))));
    Synchronize();
    EXPECT_EQ(Read(results_), OutputsOf(after_));
}

TEST_F(StreamRunTest, GraphsOfUnknownShapes) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    ASSERT_TRUE(Succeeded(Session().CompileGraph(1)));
    const auto summary = Session().GetCompiledGraphSummary(1);
    ASSERT_NE(summary, nullptr);
    EXPECT_FALSE(summary->IsStatic());
    size_t size = 77;
    EXPECT_TRUE(Failed(summary->GetFeatureMemorySize(size), {"E19999", "not static"}));
    EXPECT_EQ(size, 77U);
    std::vector<ge::Shape> shapes;
    EXPECT_TRUE(Failed(summary->GetOutputShapes(shapes), {"not static"}));
    EXPECT_TRUE(Failed(Session().CompileGraph(9), {"E10062"}, 1343242242));
    EXPECT_EQ(Session().GetCompiledGraphSummary(9), nullptr);
    EXPECT_TRUE(HasError({"E10062"}));
    graphs::Parts parts;
    parts.Link(5);
    parts.graph.SetInputs(parts.sources);
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, parts.graph)));
    EXPECT_TRUE(Failed(Session().CompileGraph(2), {"E11019", "block_tables"}));
    EXPECT_EQ(Session().GetCompiledGraphSummary(2), nullptr);
}

}  // namespace
