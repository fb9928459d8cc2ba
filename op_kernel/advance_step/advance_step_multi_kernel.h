// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti on the cores: docs/operators/advance_step_multi.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_multi_tiling_data.h"

namespace advstep {

/// Conformances standard and vllm. Each core takes its rows through all steps.
AdvanceStepKernels MultiStandardKernels(bool lengths32, bool slots32, bool tables32);

/// Conformance exact; `compare` is null.
AdvanceStepKernels MultiExactKernels(bool tables32);

/// The work of a launch: that of all its steps.
LaunchCounts CountMultiStandard(const void* payload);
LaunchCounts CountMultiExact(const void* payload);

}  // namespace advstep
