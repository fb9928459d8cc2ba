// SPDX-License-Identifier: Apache-2.0
// A batch of AdvanceStepV2 without a fault, and changes that take a row to an edge.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_ADVANCE_STEP_V2_EDGES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_ADVANCE_STEP_V2_EDGES_H_

#include <functional>

#include "support/advance_step_v2_batch.h"

namespace conformance {

using reference::AdvanceStepV2Data;

inline constexpr int64_t kHuge = INT64_MAX;
inline constexpr int64_t kInt32Max = INT32_MAX;
inline constexpr int64_t kTwo32 = int64_t{1} << 32;

// 5 queries with 2 spec tokens, block size 4, 3 blocks each, no fault.
inline AdvanceStepV2Data GoodData() {
    AdvanceStepV2Data data = support::MakeV2Data(5, 2, 4, 3, 1);
    data.acceptedNum.assign(5, 1);
    for (int64_t row = 0; row < 15; ++row) {
        data.inputPositions[static_cast<size_t>(row)] = row % 9;
    }
    return data;
}

using Change = std::function<void(AdvanceStepV2Data&)>;

// Makes `position` the new one of a row, and `block` what it reads.
inline Change At(size_t row, int64_t position, int64_t block, int64_t blockSize = 4) {
    return [=](AdvanceStepV2Data& d) {
        if (blockSize != d.blockSize) {
            d.blockSize = blockSize;
            d.inputPositions.assign(15, 0);
            d.blockTables.assign(15, 0);
        }
        d.inputPositions[row] = position - 2;
        const int64_t column = position / blockSize;
        if (column >= 0 && column < 3) {
            d.blockTables[row / 3 * 3 + static_cast<size_t>(column)] = block;
        }
    };
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_ADVANCE_STEP_V2_EDGES_H_
