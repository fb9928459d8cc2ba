// SPDX-License-Identifier: Apache-2.0
// Finds overlaps of strided memory.

#include "src/base/tensor_view.h"

#include <algorithm>

namespace advstep {

bool Overlaps(const uint8_t* begin, int64_t bytes, const uint8_t* address,
              const MemoryExtent& extent) {
    const int64_t span = extent.spanBytes();
    // The addresses may belong to unrelated objects, so they are compared as numbers.
    const auto from = reinterpret_cast<uintptr_t>(begin);
    const auto runs = reinterpret_cast<uintptr_t>(address);
    if (bytes == 0 || span == 0 || from >= runs + static_cast<uintptr_t>(span) ||
        runs >= from + static_cast<uintptr_t>(bytes)) {
        return false;
    }
    if (extent.rows == 1) {
        return true;
    }
    // There may be gaps between runs, so this looks at the run at or before the first common byte.
    const auto first = static_cast<int64_t>(std::max(from, runs) - runs);
    const auto last = static_cast<int64_t>(
        std::min(from + static_cast<uintptr_t>(bytes), runs + static_cast<uintptr_t>(span)) - runs);
    const int64_t row = first / extent.strideBytes;
    return first - row * extent.strideBytes < extent.rowBytes ||
           (row + 1) * extent.strideBytes < last;
}

}  // namespace advstep
