// SPDX-License-Identifier: Apache-2.0
// The steps of a run on a stream: the memory that each operator uses, and the copies.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/graph/graph_model.h"
#include "src/graph/outcome.h"
#include "src/graph/run_plan.h"

namespace advstep::graph {

/// A copy of device memory, or an operator call.
struct StreamStep {
    uint8_t* to = nullptr;  // null: a call
    const uint8_t* from = nullptr;
    size_t bytes = 0;
    size_t call = 0;  // place in RunPlan::calls
    // The addresses of its inputs, in the order of the kind, then of its outputs that are no
    // updates.
    std::vector<void*> addresses{};
};

/// The memory that is there before the run.
struct StreamMemory {
    std::vector<uint8_t*> sources;  // of RunPlan::sources
    std::vector<uint8_t*> outputs;  // of RunPlan::outputs: memory of the program
    /// Makes memory of the session for one value.
    std::function<Outcome(size_t bytes, uint8_t** address)> allocate;
};

/// Plans a run. An operator updates the memory of a Variable or RefData itself. It updates a Data
/// in the memory of the output that it becomes, which starts as a copy, unless the program gave one
/// memory for both. A value that is read later is saved before its memory changes.
Outcome PlanStream(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                   std::vector<StreamStep>* steps);

}  // namespace advstep::graph
