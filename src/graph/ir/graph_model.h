// SPDX-License-Identifier: Apache-2.0
// A graph as a session keeps it: immutable nodes, inputs and outputs.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/graph/ir/operator.h"
#include "src/graph/ir/outcome.h"

namespace advstep::graph {

/// One output of one node.
struct ValueId {
    size_t node = 0;
    size_t output = 0;
};

struct ModelInput {
    std::string name;
    bool isOptional = false;
    bool hasDesc = false;
    ge::TensorDesc desc;
    std::optional<ValueId> source;
};

struct ModelNode {
    std::string name;
    std::string type;
    std::vector<ModelInput> inputs;
    std::vector<std::string> outputs;
    std::vector<ge::TensorDesc> outputDescs;  // as the program set them
    std::map<std::string, AttrValue> attrs;   // tensors are copies
    std::vector<std::string> requiredAttrs;
    std::vector<size_t> controlSources;
    std::vector<std::string> faults;

    bool IsData() const { return type == "Data" || IsRefData(); }
    bool IsRefData() const { return type == "RefData"; }
    bool IsVariable() const { return type == "Variable"; }
    /// Returns whether an operator that updates the node's output in place updates memory that
    /// outlives the run.
    bool IsState() const { return IsRefData() || IsVariable(); }
    bool IsSource() const { return IsData() || IsConst() || IsVariable(); }
    bool IsConst() const { return type == "Const" || type == "Constant"; }
};

/// A graph in the state in which it was added to a session. It never changes and shares nothing
/// with the operators of the program, so any thread may run it.
struct GraphModel {
    std::string name;
    std::vector<ModelNode> nodes;
    std::vector<ValueId> outputs;
    std::vector<size_t> targets;
};

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

/// Orders the nodes so that each comes after those on which it depends; otherwise they keep the
/// order of the graph. It fails if the dependencies form a cycle.
Outcome OrderNodes(const GraphModel& model, std::vector<size_t>* order);

/// Returns the Data nodes in the order of their input tensors.
std::vector<size_t> OrderData(const GraphModel& model);

}  // namespace advstep::graph
