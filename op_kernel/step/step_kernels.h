// SPDX-License-Identifier: Apache-2.0
// Step on the cores: plan, check, commit. docs/operators/step.md has the semantics.

#pragma once

#include "op_kernel/common/kernel.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// Phases in their order. The first two write to the workspace only; a fault in them ends the
/// launch with every tensor as it was.
///
///   StepCollect   each core checks its slots, and counts the blocks that they release and need
///   StepDecide    core 0 chooses the slots to preempt, to give a block and to recover
///   StepGiveBack  each core puts released and preempted blocks onto the free stack
///   StepHandOut   each core gives blocks to the slots that need one
///   StepRecover   each core gives the recovered slots blocks and tokens; core 0 sets the scalars
void StepCollect(const CoreContext& core, const void* payload);
void StepDecide(const CoreContext& core, const void* payload);
void StepGiveBack(const CoreContext& core, const void* payload);
void StepHandOut(const CoreContext& core, const void* payload);
void StepRecover(const CoreContext& core, const void* payload);

/// Of OnFault::kFinding, before the others: looks whether a block is in two places.
void StepSlots(const CoreContext& core, const void* payload);

/// All phases in one, for a launch of one core.
void StepOnOneCore(const CoreContext& core, const void* payload);

/// Returns whether a step is sure to move at most kBriefBytes. It reads two scalars at most, before
/// the first phase.
bool IsBriefStep(const void* payload);

/// The counters of Step: slots whose blocks were freed, slots that needed a block, slots preempted,
/// blocks given to slots that needed one, slots recovered, and launches that left slots waiting
/// with no slot generating.
struct StepCounter {
    enum : int32_t { kReleased, kNeeded, kPreempted, kDispatched, kRecovered, kStalled, kCount };
};
inline constexpr CounterNames kStepCounters = {
    StepCounter::kCount, {"released", "needed", "preempted", "dispatched", "recovered", "stalled"}};

/// The work of a launch, read from its plan.
void CountStep(const void* payload, int64_t* numbers);

}  // namespace advstep
