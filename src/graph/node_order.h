// SPDX-License-Identifier: Apache-2.0
// The order in which nodes run, and the order of the graph's inputs.

#pragma once

#include <vector>

#include "src/graph/graph_model.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// Orders the nodes so that each comes after those on which it depends; otherwise they keep the
/// order of the graph. It fails if the dependencies form a cycle.
Outcome OrderNodes(const GraphModel& model, std::vector<size_t>* order);

/// Returns the Data nodes in the order of their input tensors.
std::vector<size_t> OrderData(const GraphModel& model);

}  // namespace advstep::graph
