// SPDX-License-Identifier: Apache-2.0
// Phase one of a planned operator call, for runs in host memory and on streams.

#pragma once

#include <cstdint>
#include <vector>

#include "src/graph/ir/outcome.h"
#include "src/graph/run/operator_kind.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {

/// An operator call that phase one has planned. Its owner runs or destroys the executor.
struct PlannedExecutor {
    AdvStepGraphCalls calls{};
    aclOpExecutor* executor = nullptr;
    uint64_t workspaceSize = 0;
};

/// Makes the checks and the executor of one call.
/// @param[in] name       name of the operator, for messages
/// @param[in] addresses  device address of each input and then of each output, in the order of the
///                       kind; entries of absent inputs and of outputs that are updates are not
///                       used, and null addresses may be set later
Outcome PlanAclnn(const RunPlan& plan, const PlannedCall& call, const std::string& name,
                  const std::vector<void*>& addresses, PlannedExecutor* planned);

/// Returns the failure of an operator that was refused or failed at run time.
Outcome OperatorFailure(const PlannedCall& call, const std::string& name, int32_t code);

}  // namespace advstep::graph
