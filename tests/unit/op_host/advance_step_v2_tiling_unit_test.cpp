// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStepV2's tiling: cores share rows, not queries.

#include "op_host/advance_step/advance_step_v2.h"

#include <gtest/gtest.h>

#include "op_kernel/common/kernel.h"
#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/row_cover.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

struct V2TilingCase {
    const char* name;
    int64_t numSeqs;
    int64_t specTokens;
    int32_t vectorCores;
    int32_t coreCount;
    int64_t rowsPerCore;
    int64_t rowsPerTile;
};

class AdvanceStepV2TilingTest : public testing::TestWithParam<V2TilingCase> {};

TEST_P(AdvanceStepV2TilingTest, CutsRowsNotQueries) {
    const V2TilingCase& c = GetParam();
    unit::ParamsBench bench(c.numSeqs, c.numSeqs, 16, 4);
    bench.more = {unit::OwnedView({c.numSeqs, c.specTokens}), unit::OwnedView({c.numSeqs})};
    op::Environment environment;
    environment.vectorCores = environment.socVectorCores = c.vectorCores;
    environment.unifiedBufferBytes = 196608;
    const AdvanceStepV2Tiling tiling = TileAdvanceStepV2(bench.Params(), environment);
    EXPECT_EQ(tiling.coreCount, c.coreCount);
    EXPECT_EQ(tiling.rowsPerCore, c.rowsPerCore);
    EXPECT_EQ(tiling.rowsPerTile, c.rowsPerTile);
    EXPECT_EQ(tiling.rowsPerQuery, c.specTokens + 1);
    EXPECT_EQ(tiling.rows, c.numSeqs * (c.specTokens + 1));
    EXPECT_EQ(tiling.maxBlocks, 4);
    EXPECT_EQ(tiling.blockTableStride, 4);
    unit::ExpectRowsCovered(tiling.coreCount, tiling.rowsPerCore, tiling.rows);
}

INSTANTIATE_TEST_SUITE_P(Table, AdvanceStepV2TilingTest,
                         testing::Values(V2TilingCase{"OneQuery", 1, 1, 40, 2, 1, 1},
                                         V2TilingCase{"OneQueryManySpecTokens", 1, 128, 40, 33, 4,
                                                      4},
                                         V2TilingCase{"OneCore", 7, 3, 1, 1, 28, 28},
                                         V2TilingCase{"LastCoreShort", 41, 1, 40, 28, 3, 3},
                                         V2TilingCase{"TileIsFull", 3510, 1, 2, 2, 3510, 3510},
                                         V2TilingCase{"PastATile", 3511, 1, 2, 2, 3511, 3510},
                                         V2TilingCase{"Most", 1000000, 128, 48, 48, 2687500, 3510}),
                         support::CaseName());

}  // namespace
}  // namespace advstep
