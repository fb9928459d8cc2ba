// SPDX-License-Identifier: Apache-2.0
// Graph mode in the child of a fork, whatever threads of the parent are doing.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "graph/graph_fixture.h"
#include "graph/operator_factory.h"
#include "support/fork_child.h"
#include "support/held_page.h"
#include "support/sanitizers.h"

namespace {

using graphs::HasError;
using graphs::MakeGraphTensor;
using graphs::Succeeded;
using support::HeldPage;
using support::InForkedChild;
using Tensors = std::vector<ge::Tensor>;

class GraphForkTest : public graphs::GraphTest {
 protected:
    // A graph of one operator, whose tensor is its output.
    static ge::Graph GraphOf(const ge::Operator& op) {
        ge::Graph graph("of one");
        graph.SetInputs({op}).SetOutputs(std::vector<ge::Operator>{op});
        return graph;
    }
    static int Runs(ge::Session& session) {
        Tensors outputs;
        const Tensors inputs = {MakeGraphTensor({2}, {1, 2})};
        if (session.AddGraph(1, GraphOf(graphs::MakeData("data", 0))) != ge::SUCCESS) return 1;
        if (session.RunGraph(1, inputs, outputs) != ge::SUCCESS) return 2;
        return outputs.size() == 1 ? 0 : 3;
    }
    // Returns what is wrong in the child: 0 is nothing.
    static int WrongInChild(std::unique_ptr<ge::Session>* parents) {
        Tensors outputs;
        if ((*parents)->RunGraph(1, {}, outputs) != ge::FAILED) return 11;
        if (!HasError({"E10062", "parent of a fork"})) return 12;
        if ((*parents)->RemoveGraph(1) != ge::FAILED) return 13;
        if ((*parents)->RunGraphAsync(1, {}, [](ge::Status, Tensors&) {}) != ge::FAILED) return 14;
        if ((*parents)->GetCompiledGraphSummary(1) != nullptr) return 15;
        if (!(*parents)->IsGraphNeedRebuild(1)) return 16;
        parents->reset();
        if (ge::GEFinalize() != ge::SUCCESS) return 17;
        if (ge::GEInitialize({}) != ge::SUCCESS) return 18;
        ge::Session own(std::map<ge::AscendString, ge::AscendString>{});
        return support::kThreadSanitizer ? 0 : Runs(own);  // that sanitizer takes no threads there
    }
};

TEST_F(GraphForkTest, SessionsOfTheParentAreRefused) {
    auto session = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    ASSERT_EQ(Runs(*session), 0);
    EXPECT_EQ(InForkedChild([&] { return WrongInChild(&session); }), 0);
    Tensors outputs;
    EXPECT_TRUE(Succeeded(session->RunGraph(1, {MakeGraphTensor({2}, {1, 2})}, outputs)));
}

// The other thread has the session's lock, and copies a tensor.
TEST_F(GraphForkTest, AThreadOfTheParentIsInTheSession) {
    auto session = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    ASSERT_EQ(Runs(*session), 0);
    const HeldPage page;
    ge::Tensor tensor(ge::TensorDesc(ge::Shape({2}), ge::FORMAT_ND, ge::DT_INT64));
    ASSERT_EQ(tensor.SetData(reinterpret_cast<uint8_t*>(page.Get()), 16, [](uint8_t*) {}),
              ge::GRAPH_SUCCESS);
    const ge::Graph graph = GraphOf(ge::op::Const("const").set_attr_value(tensor));
    page.Arm();
    std::thread adder([&] { EXPECT_TRUE(Succeeded(session->AddGraph(2, graph))); });
    page.WaitUntilTouched();
    EXPECT_EQ(InForkedChild([&] { return WrongInChild(&session); }), 0);
    page.Release();
    adder.join();
}

// The other thread has the table of types, and changes the vector that gets them.
TEST_F(GraphForkTest, AThreadOfTheParentReadsTheTypes) {
    const HeldPage page;
    auto* const types = new (page.Get()) std::vector<ge::AscendString>;
    page.Arm();
    std::thread reader(
        [&] { EXPECT_EQ(ge::OperatorFactory::GetOpsTypeList(*types), ge::GRAPH_SUCCESS); });
    page.WaitUntilTouched();
    EXPECT_EQ(InForkedChild([] {
                  return ge::OperatorFactory::CreateOperator("step", "Step").IsEmpty() ? 1 : 0;
              }),
              0);
    page.Release();
    reader.join();
    EXPECT_GT(types->size(), 4U);
    types->~vector();
}

}  // namespace
