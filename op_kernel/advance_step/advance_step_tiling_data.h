// SPDX-License-Identifier: Apache-2.0
// The tiling, addresses, payload and faults of AdvanceStep.

#pragma once

#include <cstdint>

#include "op_kernel/common/block_math.h"

namespace advstep {

/// The distribution of one AdvanceStep call over the cores: written by the host, read by every
/// core.
struct AdvanceStepTiling {
    int32_t coreCount;         // cores with work: the launch's block dim
    int32_t exactCores;        // conformance exact: vector cores of the SoC, which it depends on
    int64_t rowsPerCore;       // the last core may have fewer
    int64_t rowsPerTile;       // rows that fit a core's unified buffer at a time
    int64_t numSeqs;           // rows, padding included
    int64_t numQueries;        // rows that advance
    int64_t blockSize;         // tokens
    int64_t maxBlocks;         // block ids per sequence
    int64_t blockTableStride;  // elements from one row of blockTables to the next
    BlockMath math;            // of blockSize, maxBlocks and the element types
};

/// Addresses of the first elements. Element types are those the kernel was chosen for.
struct AdvanceStepArgs {
    int64_t* inputTokens;
    const int64_t* sampledTokenIds;
    int64_t* inputPositions;
    void* seqLens;            // int64 or int32
    void* slotMapping;        // int64 or int32
    const void* blockTables;  // int64 or int32
};

struct AdvanceStepPayload {
    AdvanceStepTiling tiling;
    AdvanceStepArgs args;
};

/// The faults that the AdvanceStep operators can find in a row. The comment of each names the
/// values of the Fault.
enum class AdvanceStepFault : int32_t {
    kNegativePosition,   // position
    kColumnOutside,      // position, column
    kNegativeBlock,      // position, column, block
    kLengthTooLarge,     // position
    kSlotTooLarge,       // position, column, block
    kFlatOutside,        // position, flat index
    kDivergence,         // slot here, slot of exact; INT64_MIN if exact gives none
    kPaddingDivergence,  // none
    // AdvanceStepV2
    kNothingAccepted,   // first sampled token
    kPositionTooLarge,  // inputPositions, acceptedNum
    kLengthWraps,       // position, column, block
    kSlotWraps,         // position, column, block
    kPlaceDivergence,   // position and slot here, of exact; INT64_MIN: exact would refuse the row
    // AdvanceStepFlashInfer
    kNoPage,           // column, block
    kPageTooLong,      // tokens in the last page
    kTooManyPages,     // end of the query's entries
    kIndicesTooSmall,  // end of the query's entries, capacity
    // of the sanitizer; the row is that of the table of blocks
    kSameSlot,     // slot, the other query
    kSharedBlock,  // block, the other query, column there or -1
    kNone = -1
};

}  // namespace advstep
