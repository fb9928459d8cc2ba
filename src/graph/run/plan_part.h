// SPDX-License-Identifier: Apache-2.0
// The part of a plan that computes one value.

#pragma once

#include <cstddef>
#include <string>

#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {

/// Finds what a value is computed of. The part has the calls and sources that it takes, in the
/// order of the plan, and the value as its output. An input of which a call needs the dims alone
/// takes nothing. A value of a Const or a Data is a part of no calls.
/// @param[in] plan    as far as it is planned: up to the value at least
/// @param[in] reader  what needs the value, for the message of a failure: a Variable has its value
///                    in a run only
Outcome PartFor(const GraphModel& model, const RunPlan& plan, size_t value,
                const std::string& reader, RunPlan* part);

}  // namespace advstep::graph
