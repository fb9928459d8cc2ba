// SPDX-License-Identifier: Apache-2.0
// One run of a graph on the emulated device.

#pragma once

#include <optional>
#include <vector>

#include "graph/tensor.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/run_plan.h"
#include "src/graph/run/variable_store.h"

namespace advstep::graph {

/// Runs a model on the emulated device, in the calling thread; the thread's current context
/// changes. *outputs is replaced on success and unchanged on failure, and so are the variables. It
/// may be the same object as inputs.
Outcome RunModel(const GraphModel& model, const std::vector<ge::Tensor>& inputs,
                 std::optional<int32_t> deviceId, VariableStore* variables,
                 std::vector<ge::Tensor>* outputs);

/// Runs a part of a plan that needs no Variable and has one output, in the calling thread, whose
/// current context stays. The tensors of all sources are in host memory.
Outcome RunPart(const GraphModel& model, const RunPlan& part, std::optional<int32_t> deviceId,
                ge::Tensor* output);

}  // namespace advstep::graph
