// SPDX-License-Identifier: Apache-2.0
// The plan of a run: its values, its calls in order, and on a stream the memory of each value.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "graph/tensor.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/node_attributes.h"
#include "src/graph/run/operator_kind.h"

namespace advstep::graph {

/// One value of a run: an output of a node.
struct PlannedValue {
    ValueDesc desc;
    size_t uses = 0;  // number of inputs of operators and outputs of the graph that are this value
    // The source of which this value is an update, over any number of operators. A source has
    // itself.
    std::optional<size_t> source;
    bool isUpdated = false;  // an operator updates it in place
};

/// One operator call of a run.
struct PlannedCall {
    size_t node = 0;
    std::shared_ptr<const OperatorKind> kind;
    std::vector<std::optional<size_t>> inputs;  // values, in the order of the kind
    std::vector<size_t> outputs;                // likewise, also those that no node declares
    std::shared_ptr<const AttributeValues> attributes;
};

/// One tensor that exists at the start of a run.
struct PlannedSource {
    size_t node = 0;
    size_t value = 0;
    std::optional<size_t> input;  // of a Data or RefData: the index of its tensor
    ge::Tensor tensor;            // empty for a Variable
    size_t last = 0;              // of a Variable or RefData: its value after the run
};

/// The plan of a run of a model with given tensors. It is complete before the run starts.
struct RunPlan {
    std::vector<PlannedValue> values;
    std::vector<PlannedSource> sources;
    std::vector<PlannedCall> calls;  // in order of their dependencies
    std::vector<size_t> outputs;     // values
    // The tensors of Data and RefData operators on whose elements the plan depends.
    std::vector<size_t> readInputs;
    bool hasShapes = true;  // false: some shapes are unknown
};

/// Returns the initial value of a Variable: the tensor of its attribute, or a description without
/// bytes.
ge::Tensor InitialValueOf(const ModelNode& variable);

/// The use of a plan.
enum class PlanFor {
    kRun,     // the size of a tensor must match its shape
    kShapes,  // tensors may have no bytes; shapes that depend on these are unknown
    kLinks,   // tensors stand for unknown shapes
};

/// Makes all checks of a run that need no data, and infers all shapes. Elements on which the plan
/// depends, and which operators compute, are computed on the device with this number.
/// @param[in] read  tensors of host memory in the place of those inputs on whose elements the plan
///                  depends; null: inputs themselves are in host memory
Outcome MakePlan(const GraphModel& model, const std::vector<ge::Tensor>& inputs, PlanFor use,
                 std::optional<int32_t> deviceId, RunPlan* plan,
                 const std::vector<ge::Tensor>* read = nullptr);

/// A copy of device memory, or an operator call.
struct StreamStep {
    uint8_t* to = nullptr;  // null: a call
    const uint8_t* from = nullptr;
    size_t bytes = 0;
    size_t call = 0;  // place in RunPlan::calls
    // The addresses of its inputs, in the order of the kind, then of its outputs that are no
    // updates.
    std::vector<void*> addresses{};
};

/// The memory that is there before the run.
struct StreamMemory {
    std::vector<uint8_t*> sources;  // of RunPlan::sources
    std::vector<uint8_t*> outputs;  // of RunPlan::outputs: memory of the program
    /// Makes memory of the session for one value.
    std::function<Outcome(size_t bytes, uint8_t** address)> allocate;
};

/// Plans a run. An operator updates the memory of a Variable or RefData itself. It updates a Data
/// in the memory of the output that it becomes, which starts as a copy, unless the program gave one
/// memory for both. A value that is read later is saved before its memory changes.
Outcome PlanStream(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                   std::vector<StreamStep>* steps);

}  // namespace advstep::graph
