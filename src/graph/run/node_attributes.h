// SPDX-License-Identifier: Apache-2.0
// What the tied calls of a node take beside tensors: its attributes, the elements of inputs that
// are read while it is planned, the dims of inputs, and the lengths of its lists.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/run/operator_kind.h"

namespace advstep::graph {

/// The attributes of a node. It owns the values of lists and the texts.
struct AttributeValues {
    std::vector<AdvStepGraphValue> values;  // in the order of the tie
    std::vector<std::vector<int64_t>> integers;
    std::vector<std::vector<float>> reals;
    std::vector<std::vector<double>> doubles;
    std::vector<std::unique_ptr<bool[]>> truths;
    std::deque<std::string> texts;
};

/// An input of a node while the node is planned.
struct KnownInput {
    const ValueDesc* desc = nullptr;  // null: absent
    const uint8_t* bytes = nullptr;   // its elements, if the kind reads them; null: unknown
};

/// Reads the attributes that the tied calls take.
/// @param[in] inputs  of the kind; an input whose bytes are unknown has no elements
Outcome ReadAttributes(const ModelNode& node, const OperatorKind& kind,
                       const std::vector<KnownInput>& inputs,
                       std::shared_ptr<const AttributeValues>* values);

}  // namespace advstep::graph
