// SPDX-License-Identifier: Apache-2.0
// The tiling, addresses and payload of AdvanceStepV2.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_tiling_data.h"

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

}  // namespace advstep
