// SPDX-License-Identifier: Apache-2.0
// Implements the decode batch: device memory for its rows and the assignment of slots to rows.

#include "batch_rows.h"

#include <algorithm>

namespace serve {

BatchRows::BatchRows(const Options& options)
    : inputTokens(options.maxSeqs + 1),
      sampledTokenIds(options.maxSeqs + 1),
      inputPositions(options.maxSeqs + 1),
      seqLens(options.maxSeqs + 1),
      slotMapping(options.maxSeqs + 1),
      blockTables((options.maxSeqs + 1) * options.MaxBlocks()),
      rowSlots(options.maxSeqs + 1),
      numSeqs_(options.maxSeqs + 1),
      maxBlocks_(options.MaxBlocks()) {
    // Device memory comes with undefined contents, and padding rows are read before they are used.
    inputTokens.Fill(0);
    sampledTokenIds.Fill(0);
    inputPositions.Fill(0);
    seqLens.Fill(0);
    slotMapping.Fill(0);
    blockTables.Fill(0);
    rowSlots.Device().Fill(0);
}

void BatchRows::Assign(Stream& stream, const std::vector<int32_t>& slots) {
    std::copy(slots.begin(), slots.end(), &rowSlots[0]);
    rowSlots.Send(stream, 0, static_cast<int64_t>(slots.size()));
}

int64_t BatchRows::NumSeqsFor(int64_t numQueries) const {
    int64_t rows = 1;
    while (rows <= numQueries) {
        rows *= 2;
    }
    return std::min(rows, numSeqs_);
}

std::vector<DeviceArray> BatchRows::Arrays() const {
    return {ArrayOf("AdvanceStep.inputTokens", inputTokens),
            ArrayOf("AdvanceStep.sampledTokenIds", sampledTokenIds),
            ArrayOf("AdvanceStep.inputPositions", inputPositions),
            ArrayOf("AdvanceStep.seqLens", seqLens),
            ArrayOf("AdvanceStep.slotMapping", slotMapping),
            ArrayOf("AdvanceStep.blockTables", blockTables)};
}

}  // namespace serve
