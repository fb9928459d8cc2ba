// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 on the cores: docs/operators/advance_step_v2.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {

/// Conformances standard and vllm. Cores own rows, not queries: the rows of a query may have
/// several cores, which read the same row of blockTables.
AdvanceStepKernels V2Kernels(bool tables32);

/// Conformance exact; `compare` is null.
AdvanceStepKernels V2ExactKernels(bool tables32);

/// The work of a launch.
LaunchCounts CountV2(const void* payload);

}  // namespace advstep
