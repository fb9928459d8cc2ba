// SPDX-License-Identifier: Apache-2.0
// Runs graphs of one operator that is tied to aclnnTestMix.
#ifndef ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_FIXTURE_H_
#define ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/graph_fixture.h"
#include "graph/tied_operator.h"

namespace graphs {

class TiedOperatorTest : public GraphTest {
 protected:
    ge::op::TestMix NewMix(const char* name, int64_t narrow = 7) {
        return ge::op::TestMix(name).set_attr_narrow(narrow);
    }
    // Runs a graph of one operator with the inputs read_in and state.
    ge::Status RunOne(const ge::Operator& op, std::vector<ge::Tensor>* results) {
        std::vector<ge::Tensor> inputs = {MakeGraphTensor({2}, {1, 2}),
                                          MakeGraphTensor({2}, {100, 200})};
        std::vector<const char*> names;
        for (const char* name : {"read_in", "state", "more"}) {
            bool isInput = false;
            for (const char* own : InputsOf(op)) {
                isInput = isInput || std::string(own) == name;
            }
            if (isInput) {
                names.push_back(name);
            }
        }
        inputs.resize(names.size(), MakeGraphTensor({2}, {0, 0}));
        const ge::Status added = Session().AddGraph(1, MakeGraph(op, names));
        const ge::Status ran =
            added != ge::SUCCESS ? added : Session().RunGraph(1, inputs, *results);
        Session().RemoveGraph(1);
        return ran;
    }
    static std::vector<const char*> InputsOf(const ge::Operator& op) {
        ge::AscendString type;
        op.GetOpType(type);
        const std::string name = type.GetString();
        if (name == "TestUntied") return {"read_in"};
        if (name == "TestMixNoRead") return {"state"};
        if (name == "TestMixMore") return {"read_in", "state", "more"};
        return {"read_in", "state"};
    }
    testing::AssertionResult Refuses(const ge::Operator& op,
                                     std::initializer_list<std::string> parts) {
        std::vector<ge::Tensor> results;
        const ge::Status status = RunOne(op, &results);
        if (!results.empty()) {
            return testing::AssertionFailure() << "it has results";
        }
        return Failed(status, parts);
    }
};

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_FIXTURE_H_
