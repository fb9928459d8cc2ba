// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer on the cores: docs/operators/advance_step_flashinfer.md has the formulas.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

// The tiling, addresses and payload of AdvanceStepFlashInfer.

/// The distribution of one AdvanceStepFlashInfer call over the cores: written by the host, read by
/// every core.
struct AdvanceStepFlashInferTiling {
    AdvanceStepTiling rows;
    int64_t capacity;  // entries of pagedKvIndices
};

/// Addresses of the first elements.
struct AdvanceStepFlashInferArgs {
    AdvanceStepArgs common;
    int32_t* pagedKvIndices;
    int32_t* pagedKvIndptr;
    int32_t* pagedKvLastPageLen;
    int32_t* blockTableBound;
};

struct AdvanceStepFlashInferPayload {
    AdvanceStepFlashInferTiling tiling;
    AdvanceStepFlashInferArgs args;
    uint8_t* workspace;  // aligned: int64 [coreCount], the pages of each core's queries
};

/// The phases of one combination of element types. Cores own rows, as AdvanceStep's do, and the
/// entries of pagedKvIndices that belong to their queries.
struct FlashInferKernels {
    KernelFn count;   // writes the pages of each core's queries to the workspace
    KernelFn check;   // reports the queries that cannot advance, or whose pages do not fit
    KernelFn commit;  // writes; every row has passed the check
    int32_t keptBytesPerRow;
    KernelFn slots;  // of OnFault::kFinding: looks at the slots
};

FlashInferKernels FlashInferKernelsFor(bool lengths32, bool slots32, bool tables32);

/// The work of a launch.
void CountFlashInfer(const void* payload, int64_t* numbers);

}  // namespace advstep
