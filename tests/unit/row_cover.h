// SPDX-License-Identifier: Apache-2.0
// The property of every tiling: each row has one core, and no core is idle.
#ifndef ADVANCE_STEP_TESTS_UNIT_ROW_COVER_H_
#define ADVANCE_STEP_TESTS_UNIT_ROW_COVER_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "op_kernel/common/kernel.h"

namespace unit {

inline void ExpectRowsCovered(int32_t coreCount, int64_t rowsPerCore, int64_t rows) {
    int64_t next = 0;
    for (int32_t core = 0; core < coreCount; ++core) {
        const advstep::RowRange range = advstep::RowsOf(core, rowsPerCore, rows);
        EXPECT_EQ(range.begin, next);
        EXPECT_GT(range.end, range.begin) << "core " << core << " is idle";
        next = range.end;
    }
    EXPECT_EQ(next, rows);
}

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_ROW_COVER_H_
