// SPDX-License-Identifier: Apache-2.0
// The parts of a graph of one AdvanceStep, for tests that spoil or change one of them.
#ifndef ADVANCE_STEP_TESTS_GRAPH_GRAPH_PARTS_H_
#define ADVANCE_STEP_TESTS_GRAPH_GRAPH_PARTS_H_

#include <string>
#include <vector>

#include "graph/graph_fixture.h"

namespace graphs {

// How a refusal of the operator's aclnn call begins.
inline constexpr const char* kTiling = "Tiling func of op AdvanceStep failed";

// Operators that are not linked yet, and the tensors that the graph runs with.
struct Parts {
    std::vector<ge::Operator> sources;
    ge::op::AdvanceStep advance = MakeAdvanceStep("advance", 4, 3, 4);
    ge::Graph graph{"refused"};
    std::vector<ge::Tensor> inputs = graphs::TensorsOf(graphs::SmallBatch());
    bool isLinked = false;  // the case has linked the operator itself
    bool hasInputs = true;  // otherwise the case calls SetInputs

    Parts() {
        for (size_t i = 0; i < AdvanceStepInputs().size(); ++i) {
            sources.push_back(MakeData(AdvanceStepInputs()[i], static_cast<int64_t>(i)));
        }
    }
    void Link(size_t count = 6) {
        isLinked = true;
        for (size_t i = 0; i < count; ++i) {
            advance.SetInput(AdvanceStepInputs()[i], sources[i]);
        }
    }
    // Another Data, for an optional input.
    void Add(const char* name, const ge::Tensor& tensor) {
        sources.push_back(MakeData(name, static_cast<int64_t>(sources.size())));
        advance.SetInput(name, sources.back());
        inputs.push_back(tensor);
    }
};

inline ge::TensorDesc Desc(const std::vector<int64_t>& dims, ge::DataType dataType = ge::DT_INT64) {
    return ge::TensorDesc(ge::Shape(dims), ge::FORMAT_ND, dataType);
}

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_GRAPH_PARTS_H_
