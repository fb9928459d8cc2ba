// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer on the cores: docs/operators/advance_step_flashinfer.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_flashinfer_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// The phases of one combination of element types. Cores own rows, as AdvanceStep's do, and the
/// entries of pagedKvIndices that belong to their queries.
struct FlashInferKernels {
    KernelFn count;   // writes the pages of each core's queries to the workspace
    KernelFn check;   // reports the queries that cannot advance, or whose pages do not fit
    KernelFn commit;  // writes; every row has passed the check
    int32_t keptBytesPerRow;
};

FlashInferKernels FlashInferKernelsFor(bool lengths32, bool slots32, bool tables32);

/// The work of a launch.
LaunchCounts CountFlashInfer(const void* payload);

}  // namespace advstep
