// SPDX-License-Identifier: Apache-2.0
// The checks of a node that do not depend on the tensors of a run.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/graph/graph_model.h"
#include "src/graph/operator_kind.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// Returns the attribute, or null if it is missing or not a T.
template <class T>
const T* FindAttr(const ModelNode& node, const std::string& name) {
    const auto found = node.attrs.find(name);
    return found == node.attrs.end() ? nullptr : std::get_if<T>(&found->second);
}

/// Returns the node as messages name it.
std::string Describe(const ModelNode& node);

/// Returns the value that is linked with an input.
std::optional<ValueId> FindSource(const ModelNode& node, const std::string& name);

/// Checks links and attributes, and finds the kind of the node, which is null for a source.
Outcome CheckNode(const ModelNode& node, std::shared_ptr<const OperatorKind>* made);

}  // namespace advstep::graph
