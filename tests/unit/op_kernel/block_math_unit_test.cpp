// SPDX-License-Identifier: Apache-2.0
// Tests of block arithmetic: columns, divisions and their limits.

#include "op_kernel/common/block_math.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

__extension__ using Wide = __int128;

using unit::kMost32;
using unit::kMost64;

std::vector<int64_t> BlockSizes() {
    std::vector<int64_t> sizes;
    for (int64_t size = 1; size <= 1100; ++size) {
        sizes.push_back(size);
    }
    for (int bits = 11; bits < 63; ++bits) {
        for (const int64_t beside : {-1, 0, 1}) {
            sizes.push_back((int64_t{1} << bits) + beside);
        }
    }
    sizes.push_back(kMost64);
    return sizes;
}

// Around every border of a column near both ends, and anywhere.
TEST(BlockMathTest, ColumnsAreThoseOfTheDivision) {
    std::mt19937_64 random(5);
    for (const int64_t size : BlockSizes()) {
        for (const int64_t columns : {int64_t{1}, int64_t{128}, kMost32 / size, kMost64 / size}) {
            const BlockMath math = MakeBlockMath(size, columns, kMost64, kMost64);
            if (math.positions == 0) {
                continue;
            }
            const auto check = [&](int64_t position) {
                if (position >= 0 && position < math.positions) {
                    ASSERT_EQ(ColumnOf(math, position), position / size)
                        << position << " / " << size << " of " << columns;
                }
            };
            const int64_t last = (math.positions - 1) / size;
            for (const int64_t column :
                 {int64_t{0}, int64_t{1}, int64_t{2}, last / 2, last - 1, last}) {
                if (column >= 0 && column <= last) {
                    check(column * size);
                    check(column * size - 1);
                    check(column * size + (size - 1 < kMost64 - column * size ? size - 1 : 0));
                }
            }
            check(math.positions - 1);
            for (int draw = 0; draw < 20; ++draw) {
                check(static_cast<int64_t>(random() % static_cast<uint64_t>(math.positions)));
            }
        }
    }
}

TEST(BlockMathTest, DividesWithoutDivisionWhatTablesHold) {
    EXPECT_EQ(MakeBlockMath(16, 128, kMost64, kMost64).division, BlockDivision::kShift);
    EXPECT_EQ(MakeBlockMath(int64_t{1} << 40, 128, kMost64, kMost64).division,
              BlockDivision::kShift);
    EXPECT_EQ(MakeBlockMath(100, 128, kMost64, kMost64).division, BlockDivision::kMultiply);
    EXPECT_EQ(MakeBlockMath(3, 715827882, kMost64, kMost64).division, BlockDivision::kMultiply);
    EXPECT_EQ(MakeBlockMath(3, 715827883, kMost64, kMost64).division, BlockDivision::kDivide);
}

TEST(BlockMathTest, PositionsEndWithTheTableOrTheLengths) {
    EXPECT_EQ(MakeBlockMath(16, 8, kMost64, kMost64).positions, 128);
    EXPECT_EQ(MakeBlockMath(16, 8, 100, kMost64).positions, 100);
    EXPECT_EQ(MakeBlockMath(kMost64, 2, kMost64, kMost64).positions, kMost64);
    EXPECT_EQ(MakeBlockMath(16, 0, kMost64, kMost64).positions, 0);
}

TEST(BlockMathTest, AllSlotsOfTheLastBlockFit) {
    for (const int64_t lastSlot : {kMost32, kMost64}) {
        for (const int64_t size : BlockSizes()) {
            const int64_t block = MakeBlockMath(size, 1, kMost64, lastSlot).lastBlock;
            const Wide lastOfIt = static_cast<Wide>(block) * size + (size - 1);
            EXPECT_TRUE(block == -1 || lastOfIt <= lastSlot) << size;
            EXPECT_TRUE(lastOfIt + size > lastSlot) << size;
        }
    }
    EXPECT_EQ(MakeBlockMath(kMost64, 1, kMost64, kMost32).lastBlock, -1);
}

}  // namespace
}  // namespace advstep
