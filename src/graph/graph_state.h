#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "src/graph/graph_model.h"
#include "src/graph/operator_node.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// What the copies of one ge::Graph share.
class GraphState {
 public:
    explicit GraphState(const char* name);

    /// One output of one operator, or all of it.
    struct Selection {
        ge::Operator op;
        std::vector<size_t> indices;
    };

    const std::string& Name() const { return name_; }
    void SetInputs(const std::vector<ge::Operator>& inputs);
    void SetOutputs(const std::vector<Selection>& selections);
    void SetOutputs(const std::vector<std::pair<ge::Operator, ge::AscendString>>& selections);
    bool AddOp(const ge::Operator& op);
    /// An empty handle if there is none.
    ge::Operator FindOp(const std::string& name) const;
    bool IsValid() const;

    /// The graph as it is now. Fails if it has no inputs or a fault.
    Outcome MakeModel(std::shared_ptr<const GraphModel>* model) const;
    /// The same for Session::AddGraph, which takes a graph only once, with unique names only.
    Outcome MakeModelOnce(bool isCopy, std::shared_ptr<const GraphModel>* model);

 private:
    bool IsMember(const OperatorNode* node) const;
    Outcome MakeModelLocked(std::shared_ptr<const GraphModel>* model) const;

    const std::string name_;
    // Guards what follows; what operators contain is their users' business (graph/operator.h).
    mutable std::mutex mutex_;
    bool hasInputs_ = false;
    bool wasAdded_ = false;
    std::vector<ge::Operator> members_;  // breadth first from the inputs
    std::map<const OperatorNode*, size_t> places_;
    std::vector<ValueId> outputs_;
    std::map<std::string, ge::Operator> addedOps_;
    std::vector<std::string> faults_;
};

class GraphAccess {
 public:
    static GraphState& StateOf(const ge::Graph& graph) { return *graph.state_; }
};

}  // namespace advstep::graph
