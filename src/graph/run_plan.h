// SPDX-License-Identifier: Apache-2.0
// The plan of a run: the values it needs and the operator calls it makes.

#pragma once

#include <optional>
#include <vector>

#include "graph/tensor.h"
#include "src/graph/graph_model.h"
#include "src/graph/operator_kind.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// One value of a run: an output of a node.
struct PlannedValue {
    ValueDesc desc;
    size_t uses = 0;  // number of inputs of operators and outputs of the graph that are this value
};

/// One operator call of a run.
struct PlannedCall {
    size_t node = 0;
    const OperatorKind* kind = nullptr;
    std::vector<std::optional<size_t>> inputs;   // values, in the order of the kind
    std::vector<std::optional<size_t>> outputs;  // the same; no value: the node has none
    std::vector<int64_t> attrs;
};

/// One tensor that exists at the start of a run.
struct PlannedSource {
    size_t value = 0;
    ge::Tensor tensor;
};

/// The plan of a run of a model with given tensors. It is complete before the run starts.
struct RunPlan {
    std::vector<PlannedValue> values;
    std::vector<PlannedSource> sources;
    std::vector<PlannedCall> calls;  // in order of their dependencies
    std::vector<size_t> outputs;     // values
};

/// Makes all checks of a run that need no data, and infers all shapes.
/// @param[in] checkBytes  whether the size of a tensor must match its shape
Outcome MakePlan(const GraphModel& model, const std::vector<ge::Tensor>& inputs, bool checkBytes,
                 RunPlan* plan);

}  // namespace advstep::graph
