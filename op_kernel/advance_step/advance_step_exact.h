// SPDX-License-Identifier: Apache-2.0
// The computation of the shipped kernel, row by row, for conformance exact and for the comparison
// with it.

#pragma once

#include <cstdint>
#include <limits>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/slot.h"

namespace advstep {

/// The number that stands for the slot of a query that exact would not move.
constexpr int64_t kNoExactSlot = std::numeric_limits<int64_t>::min();

/// Only the first `exactCores` queries advance.
inline bool ExactAdvances(const AdvanceStepTiling& t, int64_t query) {
    return query < t.exactCores;
}

/// Only every exactCores-th padding row is blanked.
inline bool ExactBlanks(const AdvanceStepTiling& t, int64_t paddingRow) {
    return (paddingRow - t.numQueries) % t.exactCores == 0;
}

/// Sets the index of an entry of the table, which exact reads flat from the first row for every
/// query. Returns whether the table has such an entry.
inline bool ExactFlatIndexInside(const AdvanceStepTiling& t, int64_t position, int64_t* flat) {
    *flat = position / t.blockSize;
    return *flat >= 0 && *flat < t.numSeqs * t.maxBlocks;
}

template <typename Table>
int64_t ExactSlot(const AdvanceStepTiling& t, const Table* blockTables, int64_t query,
                  int64_t position, int64_t flat) {
    const auto entry = static_cast<int64_t>(
        blockTables[flat / t.maxBlocks * t.blockTableStride + flat % t.maxBlocks]);
    const auto block =
        static_cast<int64_t>(static_cast<uint64_t>(entry) +
                             static_cast<uint64_t>(t.maxBlocks) * static_cast<uint64_t>(query));
    return WrappingSlot(block, t.blockSize, position % t.blockSize);
}

}  // namespace advstep
