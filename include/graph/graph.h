// SPDX-License-Identifier: Apache-2.0
/// Graphs of operators.
#ifndef ADVSTEP_GRAPH_GRAPH_H_
#define ADVSTEP_GRAPH_GRAPH_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "gnode.h"
#include "operator.h"
#include "types.h"

namespace advstep {
namespace graph {
class GraphState;
class GraphAccess;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// A handle: copies denote one graph.
class ADVSTEP_GRAPH_API Graph {
 public:
    Graph();
    explicit Graph(const char* name);
    Graph(const Graph& other) = default;
    Graph& operator=(const Graph& other) = default;

    /// Makes the graph of all operators that are reachable from these over data and control links
    /// in both directions, breadth first in the order given. At least one of the operators given
    /// must have no linked input. A second call is a fault, which Session::AddGraph reports.
    Graph& SetInputs(const std::vector<Operator>& inputs);

    /// Selects the outputs that Session::RunGraph returns, in this order: all outputs of an
    /// operator, those with the given indices (all if there are none), or the one with the given
    /// name. An operator that is not in the graph and a bad index are skipped; a bad name is a
    /// fault. The call has no effect before SetInputs. A later call replaces an earlier one.
    Graph& SetOutputs(const std::vector<Operator>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs);

    /// Names operators that must run though nobody reads their outputs. All operators of a graph
    /// run, so the call only makes sure that these are in the graph: an operator that is not is a
    /// fault, which Session::AddGraph reports. The call may precede SetInputs. A later call
    /// replaces an earlier one.
    Graph& SetTargets(const std::vector<Operator>& targets);

    /// Returns the operators of the graph in the order of SetInputs; none before it.
    std::vector<GNode> GetAllNodes() const;
    /// The same, because there are no subgraphs here.
    std::vector<GNode> GetDirectNode() const;
    /// Returns null if the graph has no operator of this name.
    GNodePtr FindNodeByName(const AscendString& name) const;

    /// Makes an operator known to FindOpByName. It does not add the operator to the graph:
    /// SetInputs alone does. Returns GRAPH_FAILED for an empty handle, and for a name that another
    /// operator has.
    graphStatus AddOp(const Operator& op);
    graphStatus FindOpByName(const char* name, Operator& op) const;
    /// These return the operators of the graph, and after them those that AddOp alone made known,
    /// by name.
    graphStatus GetAllOpName(std::vector<AscendString>& names) const;
    graphStatus FindOpByType(const char* type, std::vector<Operator>& ops) const;
    graphStatus GetName(AscendString& name) const;

    /// Writes the graph to a file that LoadFromFile reads, in this library's own versioned format.
    /// The file has the old contents or the new ones, never a part. Returns GRAPH_FAILED, with a
    /// message in GEGetErrorMsgV2, if the graph has no inputs or has a fault, or if the file cannot
    /// be written.
    graphStatus SaveToFile(const char* file) const;
    /// Reads a graph, with its name, into one that has no SetInputs. Returns GRAPH_FAILED, with a
    /// message and without a change, if there was one, and for a file that is missing, damaged or
    /// foreign.
    graphStatus LoadFromFile(const char* file);
    /// Returns whether SetInputs has been called and there has been no fault since.
    bool IsValid() const;

 private:
    friend class advstep::graph::GraphAccess;

    std::shared_ptr<advstep::graph::GraphState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_GRAPH_H_
