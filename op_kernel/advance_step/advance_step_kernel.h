// SPDX-License-Identifier: Apache-2.0
// AdvanceStep on the cores: docs/operators/advance_step.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// The phases of one combination of element types. Each core owns rows RowsOf(core), reads its own
/// rows of blockTables, and writes no tensor in `check` and `compare`. All take several cores at a
/// time.
struct AdvanceStepKernels {
    KernelFn check;    // reports the rows that cannot advance
    KernelFn compare;  // reports the rows that conformance exact would leave with other values
    KernelFn commit;   // writes; every row has passed the check
    KernelFn checkAndCommit = nullptr;  // both in one call, for all cores: writes if nothing is bad
    int32_t keptBytesPerRow = 0;        // KernelProgram::keptBytesPerRow
};

/// Conformances standard and vllm.
AdvanceStepKernels StandardKernels(bool lengths32, bool slots32, bool tables32);

/// Conformance exact; `compare` is null.
AdvanceStepKernels ExactKernels(bool tables32);

/// The work of a launch.
LaunchCounts CountStandardRows(const AdvanceStepTiling& tiling);
LaunchCounts CountExactRows(const AdvanceStepTiling& tiling);
LaunchCounts CountStandard(const void* payload);
LaunchCounts CountExact(const void* payload);

}  // namespace advstep
