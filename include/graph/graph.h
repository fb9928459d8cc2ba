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

/// A handle to a graph. Copies of it denote the same graph. Objects have CANN's layout; functions that
/// take or return operators and nodes do not.
class ADVSTEP_GRAPH_API Graph {
 public:
    Graph();
    explicit Graph(const char* name);
    Graph(const Graph& other) = default;
    Graph& operator=(const Graph& other) = default;

    /// Fills the graph with all operators that are reachable from these over data and control links
    /// in both directions. Their order is breadth first, from the given operators on. At least one
    /// of the given operators must have no linked input. A second call is a fault, which
    /// Session::AddGraph reports.
    Graph& SetInputs(const std::vector<Operator>& inputs);

    /// Selects the outputs that Session::RunGraph returns, in this order. The first form selects
    /// all outputs of each operator, the second those with the given indices (all if there are no
    /// indices), the third the one with the given name. An operator that is not in the graph and a
    /// bad index are skipped; a bad name is a fault. The call has no effect before SetInputs. A
    /// later call replaces an earlier one.
    Graph& SetOutputs(const std::vector<Operator>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs);

    /// Names operators that must run even if nothing reads their outputs. All operators of a graph
    /// run, so the call only checks that these are in the graph: an operator outside it is a fault,
    /// which Session::AddGraph reports. The call may come before SetInputs. A later call replaces
    /// an earlier one.
    Graph& SetTargets(const std::vector<Operator>& targets);

    /// Returns the operators of the graph in the order of SetInputs; none before SetInputs.
    std::vector<GNode> GetAllNodes() const;
    /// As GetAllNodes, because graphs here have no subgraphs.
    std::vector<GNode> GetDirectNode() const;
    /// Returns null if the graph has no operator of this name.
    GNodePtr FindNodeByName(const AscendString& name) const;

    /// Makes an operator known to FindOpByName. The operator is not added to the graph: only
    /// SetInputs adds operators. Returns GRAPH_FAILED for an empty handle, and for a name that
    /// another operator has.
    graphStatus AddOp(const Operator& op);
    graphStatus FindOpByName(const char* name, Operator& op) const;
    /// These calls return the operators of the graph, followed by operators that only AddOp made
    /// known, in the order of their names.
    graphStatus GetAllOpName(std::vector<AscendString>& names) const;
    graphStatus FindOpByType(const char* type, std::vector<Operator>& ops) const;
    graphStatus GetName(AscendString& name) const;

    /// Writes the graph to a file that LoadFromFile reads, in this library's own versioned format.
    /// The file has the old contents or the new ones, never a part of them. Returns GRAPH_FAILED,
    /// with a message in GEGetErrorMsgV2, if the graph has no inputs or has a fault, or if the file
    /// cannot be written.
    graphStatus SaveToFile(const char* file) const;
    /// Reads a graph, with its name, into this one, for which SetInputs was not called. Returns
    /// GRAPH_FAILED, with a message and without a change, if SetInputs was called, and if the file
    /// is missing, damaged or of another format.
    graphStatus LoadFromFile(const char* file);
    /// Returns whether SetInputs has been called and there has been no fault since.
    bool IsValid() const;

 private:
    friend class advstep::graph::GraphAccess;

    std::shared_ptr<advstep::graph::GraphState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_GRAPH_H_
