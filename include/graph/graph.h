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

    /// Makes an operator known to FindOpByName. It does not add the operator to the graph:
    /// SetInputs alone does. Returns GRAPH_FAILED for an empty handle, and for a name that another
    /// operator has.
    graphStatus AddOp(const Operator& op);
    graphStatus FindOpByName(const char* name, Operator& op) const;
    graphStatus GetName(AscendString& name) const;
    /// Returns whether SetInputs has been called and there has been no fault since.
    bool IsValid() const;

 private:
    friend class advstep::graph::GraphAccess;

    std::shared_ptr<advstep::graph::GraphState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_GRAPH_H_
