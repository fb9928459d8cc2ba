// SPDX-License-Identifier: Apache-2.0
// The state that all copies of one ge::Graph share.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/operator.h"
#include "src/graph/ir/outcome.h"

namespace advstep::graph {

/// The state that the copies of one ge::Graph share.
class GraphState {
 public:
    explicit GraphState(const char* name);

    /// One output of an operator, or all of them.
    struct Selection {
        ge::Operator op;
        std::vector<size_t> indices;
    };

    std::string Name() const;
    void SetInputs(const std::vector<ge::Operator>& inputs);
    void SetOutputs(const std::vector<Selection>& selections);
    void SetOutputs(const std::vector<std::pair<ge::Operator, ge::AscendString>>& selections);
    void SetTargets(const std::vector<ge::Operator>& targets);
    bool AddOp(const ge::Operator& op);
    /// Returns an empty handle if there is no such operator.
    ge::Operator FindOp(const std::string& name) const;
    /// Returns the operators of the graph and, if `withAdded`, those of AddOp after them.
    std::vector<ge::Operator> Operators(bool withAdded) const;
    bool IsValid() const;

    /// Makes a model of the graph's present state. It fails if the graph has no inputs or has a
    /// fault.
    Outcome MakeModel(std::shared_ptr<const GraphModel>* model) const;
    /// Makes a model for Session::AddGraph, which accepts a graph only once (except a copy) and
    /// only with unique names.
    Outcome MakeModelOnce(bool isCopy, std::shared_ptr<const GraphModel>* model);
    /// Fills a graph that has no inputs with new operators. It fails, without a change, if there
    /// are inputs.
    Outcome Restore(const GraphModel& model);

 private:
    bool IsMember(const OperatorNode* node) const;
    // Returns whether the node is in the graph. An operator outside is skipped, but its faults are
    // kept: they may be the reason why it is outside.
    bool IsSelectable(const OperatorNode* node);
    ModelNode CopyLocked(const OperatorNode& from) const;
    Outcome MakeModelLocked(std::shared_ptr<const GraphModel>* model) const;

    // Guards the members below. It does not guard the operators: see graph/operator.h.
    mutable std::mutex mutex_;
    std::string name_;
    bool hasInputs_ = false;
    bool wasAdded_ = false;
    std::vector<ge::Operator> members_;  // breadth first from the inputs
    std::map<const OperatorNode*, size_t> places_;
    std::vector<ValueId> outputs_;
    std::vector<ge::Operator> targets_;
    std::map<std::string, ge::Operator> addedOps_;
    std::vector<std::string> faults_;
};

class GraphAccess {
 public:
    static GraphState& StateOf(const ge::Graph& graph) { return *graph.state_; }
};

}  // namespace advstep::graph
