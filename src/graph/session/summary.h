// SPDX-License-Identifier: Apache-2.0
// Compiles a graph: its checks and sizes, from the shapes that it declares.

#pragma once

#include <memory>
#include <optional>

#include "ge/ge_graph_compile_summary.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"

namespace advstep::graph {

using Summary = std::shared_ptr<ge::CompiledGraphSummary>;

/// Makes all checks that need no data, and for a static graph those of the operators. It runs in a
/// thread whose current context may change.
Outcome Compile(const GraphModel& model, std::optional<int32_t> deviceId, Summary* summary);

}  // namespace advstep::graph
