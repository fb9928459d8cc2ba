// SPDX-License-Identifier: Apache-2.0
// A graph of one AdvanceStep for the tests of what is in a graph.
#ifndef ADVANCE_STEP_TESTS_GRAPH_GRAPH_RULES_FIXTURE_H_
#define ADVANCE_STEP_TESTS_GRAPH_GRAPH_RULES_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_fixture.h"

namespace graphs {

using Selected = std::vector<std::pair<ge::Operator, std::vector<size_t>>>;
using Named = std::vector<std::pair<ge::Operator, ge::AscendString>>;

class GraphRulesTest : public GraphTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        for (size_t i = 0; i < AdvanceStepInputs().size(); ++i) {
            sources_.push_back(MakeData(AdvanceStepInputs()[i], static_cast<int64_t>(i)));
            advance_.SetInput(AdvanceStepInputs()[i], sources_.back());
        }
    }
    // An AdvanceStep that has the sources for inputs.
    ge::op::AdvanceStep MakeLinked(const std::string& name) const {
        auto advance = MakeAdvanceStep(name, 4, 3, 4);
        for (size_t i = 0; i < sources_.size(); ++i) {
            advance.SetInput(AdvanceStepInputs()[i], sources_[i]);
        }
        return advance;
    }
    // The values that a graph of this operator returns.
    std::vector<std::vector<int64_t>> Run(const ge::Graph& graph) {
        EXPECT_TRUE(Succeeded(Session().AddGraph(++graphId_, graph)));
        std::vector<ge::Tensor> outputs;
        EXPECT_TRUE(Succeeded(Session().RunGraph(graphId_, TensorsOf(data_), outputs)));
        return ValuesOf(outputs);
    }

    const reference::AdvanceStepData data_ = SmallBatch();
    const reference::AdvanceStepData after_ = Advanced(data_);
    ge::op::AdvanceStep advance_ = MakeAdvanceStep("advance", 4, 3, 4);
    std::vector<ge::Operator> sources_;
    uint32_t graphId_ = 0;
};

// Has a folder of the test's own, which goes with it.
class GraphFolderTest : public GraphRulesTest {
 protected:
    GraphFolderTest() {
        char name[] = "/tmp/advance_step_graph_XXXXXX";
        folder_ = mkdtemp(name);
    }
    ~GraphFolderTest() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
};

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_GRAPH_RULES_FIXTURE_H_
