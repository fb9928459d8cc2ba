// SPDX-License-Identifier: Apache-2.0
// Tests of Step's tiling: slots per core, conformance, block sizes.

#include "op_host/step/step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "op_kernel/common/kernel.h"
#include "unit/row_cover.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

struct StepTilingCase {
    const char* name;
    int64_t batch;
    int32_t vectorCores;
    int32_t coreCount;
    int64_t slotsPerCore;
};

class StepTilingTest : public testing::TestWithParam<StepTilingCase> {};

TEST_P(StepTilingTest, EverySlotHasOneCoreAndNoCoreIsIdle) {
    const StepTilingCase& row = GetParam();
    StepDims dims;
    dims.batch = row.batch;
    dims.slots = row.batch + 3;
    op::Environment environment;
    environment.vectorCores = row.vectorCores;
    const StepTiling tiling = TileStep(dims, 4, environment);
    EXPECT_EQ(tiling.coreCount, row.coreCount);
    EXPECT_EQ(tiling.slotsPerCore, row.slotsPerCore);
    EXPECT_EQ(tiling.slotsPerCore % 64, 0);  // words of sets of slots have one core each
    unit::ExpectRowsCovered(tiling.coreCount, tiling.slotsPerCore, row.batch);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StepTilingTest,
    testing::Values(
        //         name               batch  vectorCores  coreCount  slotsPerCore
        StepTilingCase{"NoSlot", 0, 40, 0, 256}, StepTilingCase{"OneSlot", 1, 40, 1, 256},
        StepTilingCase{"OneShare", 256, 40, 1, 256},
        StepTilingCase{"LastCoreOneSlot", 257, 40, 2, 256},
        StepTilingCase{"OneSharePerCore", 10240, 40, 40, 256},
        StepTilingCase{"AWordMore", 10241, 40, 33, 320}, StepTilingCase{"OneCore", 257, 1, 1, 320},
        StepTilingCase{"ManySlots", 100000, 48, 48, 2112}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(StepTilingValuesTest, CarriesDimsAndConformance) {
    StepDims dims;
    dims.batch = 5;
    dims.tableWidth = 7;
    dims.freeCapacity = 11;
    dims.inputWidth = 13;
    dims.preWidth = 17;
    op::Environment environment;
    environment.conformance = Conformance::kExact;
    const StepTiling tiling = TileStep(dims, 3, environment);
    EXPECT_EQ(tiling.exact, 1);
    EXPECT_EQ(tiling.tableWidth, 7);
    EXPECT_EQ(tiling.freeCapacity, 11);
    EXPECT_EQ(tiling.inputWidth, 13);
    EXPECT_EQ(tiling.preWidth, 17);
    EXPECT_EQ(tiling.blockSize, 3);
    environment.conformance = Conformance::kVllm;
    EXPECT_EQ(TileStep(dims, 3, environment).exact, 0);
}

TEST(StepTilingValuesTest, AStepMovesLittleIfAllItsRowsAreSmall) {
    const auto movesLittle = [](int64_t batch, int64_t width, int64_t input, int64_t pre) {
        StepDims dims;
        dims.batch = batch;
        dims.tableWidth = width;
        dims.inputWidth = input;
        dims.preWidth = pre;
        return TileStep(dims, 16, {}).movesLittle != 0;
    };
    EXPECT_TRUE(movesLittle(256, 128, 64, 64));  // 256 KiB
    EXPECT_FALSE(movesLittle(257, 128, 64, 64));
    EXPECT_FALSE(movesLittle(256, 129, 64, 64));
    EXPECT_FALSE(movesLittle(256, 128, 65, 65));
    EXPECT_TRUE(movesLittle(256, 128, 65, 64));  // no more tokens are moved than either has
    EXPECT_TRUE(movesLittle(256, 128, 64, 65));
    EXPECT_TRUE(movesLittle(0, 128, 64, 64));
    constexpr int64_t kHuge = int64_t{1} << 62;
    EXPECT_FALSE(movesLittle(kHuge, 4, 4, 4));
    EXPECT_FALSE(movesLittle(4, kHuge, 4, 4));
    EXPECT_FALSE(movesLittle(4, 4, kHuge, kHuge));
}

TEST(StepTilingValuesTest, BlockSizesThatArePowersOfTwoAreShifts) {
    op::Environment environment;
    const auto shiftOf = [&](int64_t blockSize) {
        return TileStep(StepDims{}, blockSize, environment).blockShift;
    };
    EXPECT_EQ(shiftOf(1), 0);
    EXPECT_EQ(shiftOf(2), 1);
    EXPECT_EQ(shiftOf(3), -1);
    EXPECT_EQ(shiftOf(16), 4);
    EXPECT_EQ(shiftOf(int64_t{1} << 31), 31);
    EXPECT_EQ(shiftOf((int64_t{1} << 31) + 1), -1);
    EXPECT_EQ(shiftOf(int64_t{1} << 62), 31);  // shifts an int32 to 0, as the division
}

}  // namespace
}  // namespace advstep
