// SPDX-License-Identifier: Apache-2.0
// Operators of other libraries: their kinds, attributes and shapes.

#pragma once

#include <memory>
#include <vector>

#include "advance_step/operator/graph_core.h"
#include "src/graph/graph_model.h"
#include "src/graph/operator_kind.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// The attributes of a node, with the values of its lists.
struct TiedValues {
    std::vector<AdvStepGraphValue> values;  // in the order of the tie
    std::vector<std::vector<int64_t>> integers;
    std::vector<std::vector<float>> reals;
    std::vector<std::unique_ptr<bool[]>> truths;
};

/// Finds the tie of a node's type. *kind is null afterwards if there is none. The kind is that of
/// the node: an output is an update if its node has an input of the same name.
Outcome FindTiedKind(const ModelNode& node, std::shared_ptr<const OperatorKind>* kind);

/// Reads the attributes that the tied call takes.
Outcome ReadTiedValues(const ModelNode& node, const OperatorKind& kind,
                       std::shared_ptr<const TiedValues>* values);

/// Asks the operator for the shapes of its outputs that are no updates.
/// @param[in]  inputs   of the kind; null: absent
/// @param[out] outputs  those of the kind; entries of updates are not changed
Outcome InferTied(const ModelNode& node, const OperatorKind& kind, const TiedValues& values,
                  const std::vector<const ValueDesc*>& inputs,
                  const std::vector<ValueDesc*>& outputs);

}  // namespace advstep::graph
