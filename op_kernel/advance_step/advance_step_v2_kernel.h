// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 on the cores: docs/operators/advance_step_v2.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {

/// Queries of more rows have the kernels of those with so many.
constexpr int64_t kV2MostRowsApart = 5;

/// Conformances standard and vllm. Cores own rows, not queries: the rows of a query may have
/// several cores, which read the same row of blockTables.
AdvanceStepKernels V2Kernels(bool tables32, int64_t rowsPerQuery);

/// Conformance exact; `compare` is null.
AdvanceStepKernels V2ExactKernels(bool tables32);

/// The work of a launch.
LaunchCounts CountV2(const void* payload);

}  // namespace advstep
