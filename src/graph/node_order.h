#pragma once

#include <vector>

#include "src/graph/graph_model.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// The nodes such that each comes after those it depends on, else in the order of the graph. Fails
/// where nodes depend on each other in a circle.
Outcome OrderNodes(const GraphModel& model, std::vector<size_t>* order);

/// The Data nodes in the order of the tensors that feed them.
std::vector<size_t> OrderData(const GraphModel& model);

}  // namespace advstep::graph
