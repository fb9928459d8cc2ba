// SPDX-License-Identifier: Apache-2.0
// Implements the bare loop.

#include "tests/benchmark/bare_loop.h"

#include <cstddef>
#include <numeric>

BareBatch::BareBatch(int64_t numSeqs, int64_t blocks)
    : maxBlocks(blocks),
      inputTokens(static_cast<std::size_t>(numSeqs)),
      sampledTokenIds(static_cast<std::size_t>(numSeqs - 1), 1),
      inputPositions(static_cast<std::size_t>(numSeqs)),
      seqLens(static_cast<std::size_t>(numSeqs), 17),
      slotMapping(static_cast<std::size_t>(numSeqs)),
      blockTables(static_cast<std::size_t>(numSeqs * blocks)) {
    std::iota(blockTables.begin(), blockTables.end(), int64_t{0});
}

void AdvanceBareLoop(BareBatch& batch, int64_t blockSize) {
    for (std::size_t query = 0; query < batch.sampledTokenIds.size(); ++query) {
        const int64_t position = batch.seqLens[query];
        const auto entry = query * static_cast<std::size_t>(batch.maxBlocks) +
                           static_cast<std::size_t>(position / blockSize);
        batch.inputTokens[query] = batch.sampledTokenIds[query];
        batch.inputPositions[query] = position;
        batch.seqLens[query] = position + 1;
        batch.slotMapping[query] = batch.blockTables[entry] * blockSize + position % blockSize;
    }
}
