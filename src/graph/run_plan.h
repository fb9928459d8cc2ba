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
    size_t uses = 0;  // by inputs of operators and by outputs of the graph
};

/// One operator call of a run.
struct PlannedCall {
    size_t node = 0;
    const OperatorKind* kind = nullptr;
    std::vector<std::optional<size_t>> inputs;   // values, in the order of the kind
    std::vector<std::optional<size_t>> outputs;  // the same; nothing where the node has none
    std::vector<int64_t> attrs;
};

/// One tensor that a run starts with.
struct PlannedSource {
    size_t value = 0;
    ge::Tensor tensor;
};

/// Everything about a run of a model with certain tensors that is known before it starts.
struct RunPlan {
    std::vector<PlannedValue> values;
    std::vector<PlannedSource> sources;
    std::vector<PlannedCall> calls;  // in order of their dependencies
    std::vector<size_t> outputs;     // values
};

/// Makes every check of a run that needs no data, and infers all shapes.
/// @param[in] checkBytes  whether the tensors must have the bytes of their shapes
Outcome MakePlan(const GraphModel& model, const std::vector<ge::Tensor>& inputs, bool checkBytes,
                 RunPlan* plan);

}  // namespace advstep::graph
