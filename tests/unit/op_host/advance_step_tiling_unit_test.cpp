// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStep's tiling: rows per core, tiles, small buffers.

#include "op_host/advance_step/advance_step.h"

#include <gtest/gtest.h>

#include "op_kernel/common/kernel.h"
#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/row_cover.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

constexpr int64_t kUnifiedBuffer = 196608;
constexpr int64_t kBytesPerRow = 48;  // six int64 of every row are in the buffer at a time

op::Environment Soc(int32_t vectorCores) {
    op::Environment environment;
    environment.vectorCores = environment.socVectorCores = vectorCores;
    environment.unifiedBufferBytes = kUnifiedBuffer;
    return environment;
}

AdvanceStepTiling Tile(int64_t numSeqs, int32_t vectorCores) {
    unit::ParamsBench bench(numSeqs, 1, 16, 4);
    return TileAdvanceStep(bench.Params(), Soc(vectorCores));
}

struct TilingCase {
    const char* name;
    int64_t numSeqs;
    int32_t vectorCores;
    int32_t coreCount;
    int64_t rowsPerCore;
};

class AdvanceStepTilingTest : public testing::TestWithParam<TilingCase> {};

TEST_P(AdvanceStepTilingTest, EveryRowHasExactlyOneCore) {
    const AdvanceStepTiling tiling = Tile(GetParam().numSeqs, GetParam().vectorCores);
    EXPECT_EQ(tiling.coreCount, GetParam().coreCount);
    EXPECT_EQ(tiling.rowsPerCore, GetParam().rowsPerCore);
    EXPECT_LE(tiling.coreCount, GetParam().vectorCores);
    unit::ExpectRowsCovered(tiling.coreCount, tiling.rowsPerCore, GetParam().numSeqs);
}

TEST_P(AdvanceStepTilingTest, TilesFitTheUnifiedBuffer) {
    const AdvanceStepTiling tiling = Tile(GetParam().numSeqs, GetParam().vectorCores);
    EXPECT_GE(tiling.rowsPerTile, 1);
    EXPECT_LE(tiling.rowsPerTile, tiling.rowsPerCore);
    EXPECT_LE(tiling.rowsPerTile * kBytesPerRow, kUnifiedBuffer);
    // As large as they may be.
    EXPECT_TRUE(tiling.rowsPerTile == tiling.rowsPerCore ||
                (tiling.rowsPerTile + 1) * kBytesPerRow > kUnifiedBuffer);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepTilingTest,
    testing::Values(
        //         name                    numSeqs  vectorCores  coreCount  rowsPerCore
        TilingCase{"OneRow", 1, 40, 1, 1}, TilingCase{"OneRowOnOneCore", 1, 1, 1, 1},
        TilingCase{"OneCoreIdle", 39, 40, 39, 1}, TilingCase{"OneRowPerCore", 40, 40, 40, 1},
        TilingCase{"LastCoreShort", 41, 40, 21, 2}, TilingCase{"TwoRowsPerCore", 80, 40, 40, 2},
        TilingCase{"Of48OneIdle", 47, 48, 47, 1}, TilingCase{"Of48", 48, 48, 48, 1},
        TilingCase{"Of48LastShort", 49, 48, 25, 2}, TilingCase{"OneCore", 7, 1, 1, 7},
        TilingCase{"LastCoreOneRow", 10, 3, 3, 4}, TilingCase{"EvenOnThree", 9, 3, 3, 3},
        TilingCase{"OneTile", 4096, 1, 1, 4096}, TilingCase{"OneMoreThanATile", 4097, 1, 1, 4097},
        TilingCase{"MillionOn40", 1 << 20, 40, 40, 26215},
        TilingCase{"MillionOn48", 1 << 20, 48, 48, 21846},
        TilingCase{"MillionOnOne", 1 << 20, 1, 1, 1 << 20},
        TilingCase{"MostRows", 199999999, 40, 40, 5000000},
        TilingCase{"MostCores", 65536, 65536, 65536, 1},
        TilingCase{"MostCoresOneMore", 65537, 65536, 32769, 2}),
    support::CaseName());

TEST(AdvanceStepTilingPropertyTest, SmallBatchesOnEveryNumberOfCores) {
    for (int32_t vectorCores = 1; vectorCores <= 50; ++vectorCores) {
        for (int64_t numSeqs = 1; numSeqs <= 130; ++numSeqs) {
            const AdvanceStepTiling tiling = Tile(numSeqs, vectorCores);
            const int64_t before = int64_t{tiling.coreCount - 1} * tiling.rowsPerCore;
            ASSERT_LE(tiling.coreCount, vectorCores);
            ASSERT_LT(before, numSeqs);
            ASSERT_GE(before + tiling.rowsPerCore, numSeqs);
            // As even as can be: with a row less each, the cores would not do.
            ASSERT_LT((tiling.rowsPerCore - 1) * vectorCores, numSeqs);
        }
    }
}

TEST(AdvanceStepTilingPropertyTest, CarriesTheArguments) {
    unit::ParamsBench bench(10, 6, 128, 5);
    op::Environment environment = Soc(4);
    environment.socVectorCores = 48;  // a launch limited to 4 cores of an SoC of 48
    const AdvanceStepTiling tiling = TileAdvanceStep(bench.Params(), environment);
    EXPECT_EQ(tiling.numSeqs, 10);
    EXPECT_EQ(tiling.numQueries, 6);
    EXPECT_EQ(tiling.blockSize, 128);
    EXPECT_EQ(tiling.maxBlocks, 5);
    EXPECT_EQ(tiling.blockTableStride, 5);
    EXPECT_EQ(tiling.exactCores, 48);
    EXPECT_EQ(tiling.coreCount, 4);
}

TEST(AdvanceStepTilingPropertyTest, RowStrideIsTheViews) {
    unit::ParamsBench bench(10, 6, 128, 5);
    bench.blockTables.strides = {64, 1};
    EXPECT_EQ(TileAdvanceStep(bench.Params(), Soc(40)).blockTableStride, 64);
    unit::ParamsBench oneRow(1, 1, 128, 5);
    oneRow.blockTables.strides = {-3, 1};  // of no meaning: there is no second row
    EXPECT_EQ(TileAdvanceStep(oneRow.Params(), Soc(40)).blockTableStride, 5);
}

TEST(AdvanceStepTilingPropertyTest, TinyBufferStillHoldsARow) {
    unit::ParamsBench bench(10, 6, 128, 5);
    op::Environment environment = Soc(1);
    for (const int64_t bytes : {int64_t{1}, kBytesPerRow - 1, kBytesPerRow, 2 * kBytesPerRow - 1}) {
        environment.unifiedBufferBytes = bytes;
        EXPECT_EQ(TileAdvanceStep(bench.Params(), environment).rowsPerTile, 1) << bytes;
    }
    environment.unifiedBufferBytes = 2 * kBytesPerRow;
    EXPECT_EQ(TileAdvanceStep(bench.Params(), environment).rowsPerTile, 2);
}

}  // namespace
}  // namespace advstep
