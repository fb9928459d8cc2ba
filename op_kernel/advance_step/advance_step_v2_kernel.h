// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 on the cores: docs/operators/advance_step_v2.md has the formulas.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/block_math.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// The distribution of one AdvanceStepV2 call over the cores: written by the host, read by every
/// core.
struct AdvanceStepV2Tiling {
    int32_t coreCount;         // cores with work: the launch's block dim
    int64_t rowsPerCore;       // the last core may have fewer
    int64_t rowsPerTile;       // rows that fit a core's unified buffer at a time
    int64_t rows;              // numSeqs * rowsPerQuery
    int64_t rowsPerQuery;      // w: one more than spec tokens
    int64_t blockSize;         // tokens
    int64_t maxBlocks;         // block ids per sequence
    int64_t blockTableStride;  // elements from one row of blockTables to the next
    BlockMath math;            // of blockSize and maxBlocks, for int64 lengths and slots
};

/// Addresses of the first elements.
struct AdvanceStepV2Args {
    AdvanceStepArgs common;  // seqLens and slotMapping int64, blockTables int64 or int32
    const int64_t* specToken;
    const int64_t* acceptedNum;
};

struct AdvanceStepV2Payload {
    AdvanceStepV2Tiling tiling;
    AdvanceStepV2Args args;
};

/// Queries of more rows have the kernels of those with so many.
constexpr int64_t kV2MostRowsApart = 5;

/// Conformances standard and vllm. Cores own rows, not queries: the rows of a query may have
/// several cores, which read the same row of blockTables.
AdvanceStepKernels V2Kernels(bool tables32, int64_t rowsPerQuery);

/// Conformance exact; `compare` is null.
AdvanceStepKernels V2ExactKernels(bool tables32);

/// The work of a launch.
void CountV2(const void* payload, int64_t* numbers);

}  // namespace advstep
