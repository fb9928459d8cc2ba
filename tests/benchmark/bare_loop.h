// SPDX-License-Identifier: Apache-2.0
// The plain loop that AdvanceStep is measured against.

#pragma once

#include <cstdint>
#include <vector>

/// The plain loop that AdvanceStep is measured against: one row after the other with / and %, no
/// checks, no device. numQueries = sampledTokenIds.size().
struct BareBatch {
    BareBatch(int64_t numSeqs, int64_t maxBlocks);

    int64_t maxBlocks;
    std::vector<int64_t> inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping,
        blockTables;
};

void AdvanceBareLoop(BareBatch& batch, int64_t blockSize);
