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

    /// Makes the graph of everything that is reachable from the operators over data and control
    /// links in both directions, breadth first in the order given. At least one of them has no
    /// linked input. A second call is a fault, which Session::AddGraph reports.
    Graph& SetInputs(const std::vector<Operator>& inputs);

    /// What Session::RunGraph returns, in this order: all outputs of an operator, those with these
    /// indices (none given: all), or the one of this name. An operator that is not in the graph and
    /// a bad index are skipped; a bad name is a fault. No effect before SetInputs. A later call
    /// replaces an earlier one.
    Graph& SetOutputs(const std::vector<Operator>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>>& outputs);
    Graph& SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs);

    /// For FindOpByName only: SetInputs decides what is in the graph. GRAPH_FAILED for an empty
    /// handle, and for another operator of a known name.
    graphStatus AddOp(const Operator& op);
    graphStatus FindOpByName(const char* name, Operator& op) const;
    graphStatus GetName(AscendString& name) const;
    /// Whether SetInputs has been called and nothing was wrong since.
    bool IsValid() const;

 private:
    friend class advstep::graph::GraphAccess;

    std::shared_ptr<advstep::graph::GraphState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_GRAPH_H_
