// SPDX-License-Identifier: Apache-2.0
// Operators that a program declares itself, under a type that the library has a kernel for.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_parts.h"

namespace {

using graphs::Failed;
using graphs::Parts;

// Has one attribute, and the inputs and outputs that it is told.
class OwnAdvanceStep : public ge::Operator {
 public:
    OwnAdvanceStep(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs)
        : ge::Operator("own", "AdvanceStep") {
        for (const std::string& input : inputs) {
            DeclareInput(input.c_str());
        }
        for (const std::string& output : outputs) {
            DeclareOutput(output.c_str());
        }
    }
};

class DeclarationTest : public graphs::GraphTest {
 protected:
    // What a graph of the operator is refused for, its inputs being linked in order.
    testing::AssertionResult IsRefused(OwnAdvanceStep own, const std::vector<std::string>& inputs,
                                       std::initializer_list<std::string> message) {
        Parts parts;
        for (size_t i = 0; i < inputs.size(); ++i) {
            own.SetInput(inputs[i].c_str(), parts.sources[i]);
        }
        parts.graph.SetInputs(parts.sources);
        parts.graph.SetOutputs(std::vector<ge::Operator>{own});
        if (Session().AddGraph(1, parts.graph) != ge::SUCCESS) {
            return testing::AssertionFailure() << "not added";
        }
        std::vector<ge::Tensor> outputs;
        return Failed(Session().RunGraph(1, parts.inputs, outputs), message);
    }
};

TEST_F(DeclarationTest, AnInputThatTheKernelHasMustBeThere) {
    const std::vector<std::string> inputs = {"input_tokens", "sampled_token_ids"};
    EXPECT_TRUE(IsRefused({inputs, {"slot_mapping"}}, inputs,
                          {"E11019", "input_positions", "own", "not linked"}));
}

TEST_F(DeclarationTest, AnInputThatTheKernelDoesNotHaveIsRefused) {
    EXPECT_TRUE(IsRefused({{"temperature"}, {"slot_mapping"}}, {"temperature"},
                          {"E19999", "own", "input temperature", "does not know"}));
}

TEST_F(DeclarationTest, AnOutputThatTheKernelDoesNotHaveIsRefused) {
    std::vector<std::string> inputs;
    for (const char* input : graphs::AdvanceStepInputs()) {
        inputs.emplace_back(input);
    }
    EXPECT_TRUE(IsRefused({inputs, {"logits"}}, inputs,
                          {"E19999", "own", "output logits", "does not know"}));
}

}  // namespace
