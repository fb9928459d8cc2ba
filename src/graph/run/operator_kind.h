// SPDX-License-Identifier: Apache-2.0
// The kinds of operators that graph mode runs: inputs, outputs, attributes and calls.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advance_step/operator/graph_core.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/ir/tensor.h"

namespace advstep::graph {

struct InputRule {
    std::string name;
    bool isOptional;
    bool isRead = false;       // graph mode reads its elements while it plans the node
    bool hasDimsOnly = false;  // the calls read none of its elements
};

struct OutputRule {
    static constexpr size_t kNew = SIZE_MAX;

    std::string name;
    size_t input;  // the output starts as a copy of this input, and the operator updates the copy

    /// Returns whether the output is no update of an input.
    bool isNew() const { return input == kNew; }
};

/// The operator of a node, by the tie of the node's type: what the node has of the tensors that the
/// tied calls take.
struct OperatorKind {
    /// The place of a tensor of the tied calls among the inputs and outputs of the node. It has
    /// neither if the node leaves the tensor out.
    struct Place {
        std::optional<size_t> input;
        std::optional<size_t> output;
    };

    std::string type;
    const AdvStepGraphOperator* tie = nullptr;
    std::vector<InputRule> inputs;
    std::vector<OutputRule> outputs;
    std::vector<uint32_t> counts;  // of the tensors for each tensor of the tie's table
    std::vector<Place> places;     // of these tensors, one after another
};

/// Returns whether two names are equal apart from case and underscores, as block_tables and
/// blockTables are. It is called for each pair of names of a node and its tie in each plan.
bool IsNameOf(const std::string& name, const char* argument);

/// Returns whether the operator serves nodes with attributes that its calls do not take.
bool IsTolerant(const AdvStepGraphOperator& tie);

/// Checks links and attributes, and finds the kind of the node, which is null for a source. An
/// output is an update if the node has an input of the same name.
Outcome CheckNode(const ModelNode& node, std::shared_ptr<const OperatorKind>* kind);

/// Asks the operator for the shapes of its outputs.
/// @param[in]  values   of the attributes of the tie
/// @param[in]  inputs   of the kind; null: absent
/// @param[out] outputs  those of the kind; an update keeps its shape if the operator sets none
Outcome InferOutputs(const ModelNode& node, const OperatorKind& kind,
                     const AdvStepGraphValue* values, const std::vector<const ValueDesc*>& inputs,
                     const std::vector<ValueDesc*>& outputs);

/// Asks the operator which calls run a node with these inputs.
Outcome ChooseCalls(const OperatorKind& kind, const AdvStepGraphValue* values,
                    const std::vector<const ValueDesc*>& inputs, AdvStepGraphCalls* calls);

}  // namespace advstep::graph
