// SPDX-License-Identifier: Apache-2.0
// Tests of row ranges: rows per core, tiles, no overflow.

#include "op_kernel/common/kernel.h"

#include <gtest/gtest.h>

#include <vector>

namespace advstep {
namespace {

TEST(RowRangeTest, ConsecutiveCoresHaveConsecutiveRows) {
    for (const int64_t rows : {1, 7, 40, 41, 1000}) {
        for (const int64_t rowsPerCore : {1, 2, 7, 1000}) {
            const int64_t cores = (rows + rowsPerCore - 1) / rowsPerCore;
            int64_t next = 0;
            for (int32_t core = 0; core < cores; ++core) {
                const RowRange range = RowsOf(core, rowsPerCore, rows);
                EXPECT_EQ(range.begin, next);
                EXPECT_GT(range.end, range.begin);
                EXPECT_LE(range.end - range.begin, rowsPerCore);
                next = range.end;
            }
            EXPECT_EQ(next, rows);
        }
    }
}

TEST(RowRangeTest, OnlyTheLastCoreHasFewer) {
    EXPECT_EQ(RowsOf(0, 3, 8).end, 3);
    EXPECT_EQ(RowsOf(1, 3, 8).end, 6);
    EXPECT_EQ(RowsOf(2, 3, 8).begin, 6);
    EXPECT_EQ(RowsOf(2, 3, 8).end, 8);
}

TEST(RowRangeTest, CoreBeyondTheRowsHasNone) {
    const RowRange range = RowsOf(5, 3, 8);
    EXPECT_EQ(range.begin, range.end);
}

TEST(RowRangeTest, ManyRowsPerCoreDoNotOverflow) {
    const int64_t rowsPerCore = int64_t{1} << 40;
    EXPECT_EQ(RowsOf(47, rowsPerCore, rowsPerCore * 48).begin, rowsPerCore * 47);
}

TEST(ForEachTileTest, TilesCoverTheRangeInOrder) {
    for (const int64_t rowsPerTile : {1, 2, 3, 10, 11, 1000}) {
        int64_t next = 5;
        ForEachTile({5, 15}, rowsPerTile, [&](RowRange tile) {
            EXPECT_EQ(tile.begin, next);
            EXPECT_GT(tile.end, tile.begin);
            EXPECT_LE(tile.end - tile.begin, rowsPerTile);
            next = tile.end;
        });
        EXPECT_EQ(next, 15);
    }
}

TEST(ForEachTileTest, EmptyRangeHasNoTile) {
    int visits = 0;
    ForEachTile({5, 5}, 3, [&](RowRange) { ++visits; });
    EXPECT_EQ(visits, 0);
}

}  // namespace
}  // namespace advstep
