// SPDX-License-Identifier: Apache-2.0
// The rows of a core, and the tiles that they are cut into.

#pragma once

#include <algorithm>
#include <cstdint>

namespace advstep {

struct RowRange {
    int64_t begin = 0;
    int64_t end = 0;
};

/// The rows of a core, or of `count` cores from it on. Consecutive cores have consecutive rows; the
/// last core may have fewer.
inline RowRange RowsOf(int32_t core, int64_t rowsPerCore, int64_t rows, int32_t count = 1) {
    const int64_t begin = std::min(core * rowsPerCore, rows);
    return {begin, std::min(begin + count * rowsPerCore, rows)};
}

/// Calls visit(RowRange) for the pieces of a range that fit a core's buffer, in order.
template <typename Visit>
void ForEachTile(RowRange range, int64_t rowsPerTile, Visit&& visit) {
    for (int64_t begin = range.begin; begin < range.end; begin += rowsPerTile) {
        visit(RowRange{begin, std::min(begin + rowsPerTile, range.end)});
    }
}

}  // namespace advstep
