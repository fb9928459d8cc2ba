#include "op_host/step/step_tiling.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "op_kernel/common/row_range.h"

namespace advstep {
namespace {

struct TilingCase {
    const char* name;
    int64_t batch;
    int32_t vectorCores;
    int32_t coreCount;
    int64_t slotsPerCore;
};

class StepTilingTest : public testing::TestWithParam<TilingCase> {};

TEST_P(StepTilingTest, EverySlotHasOneCoreAndNoCoreIsIdle) {
    const TilingCase& row = GetParam();
    StepDims dims;
    dims.batch = row.batch;
    dims.slots = row.batch + 3;
    OperatorEnvironment environment;
    environment.vectorCores = row.vectorCores;
    const StepTiling tiling = TileStep(dims, 4, environment);
    EXPECT_EQ(tiling.coreCount, row.coreCount);
    EXPECT_EQ(tiling.slotsPerCore, row.slotsPerCore);
    std::vector<int> owners(static_cast<size_t>(row.batch));
    for (int32_t core = 0; core < tiling.coreCount; ++core) {
        const RowRange slots = RowsOf(core, tiling.slotsPerCore, tiling.batch);
        EXPECT_LT(slots.begin, slots.end) << "core " << core;
        for (int64_t slot = slots.begin; slot < slots.end; ++slot) {
            ++owners[static_cast<size_t>(slot)];
        }
    }
    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
}

INSTANTIATE_TEST_SUITE_P(
    Table, StepTilingTest,
    testing::Values(
        //         name               batch  vectorCores  coreCount  slotsPerCore
        TilingCase{"NoSlot", 0, 40, 0, 1}, TilingCase{"OneSlot", 1, 40, 1, 1},
        TilingCase{"OneSlotShort", 39, 40, 39, 1}, TilingCase{"OneSlotPerCore", 40, 40, 40, 1},
        TilingCase{"LastCoreShort", 41, 40, 21, 2}, TilingCase{"OneCore", 257, 1, 1, 257},
        TilingCase{"ManySlots", 100000, 48, 48, 2084}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(StepTilingValuesTest, CarriesDimsAndConformance) {
    StepDims dims;
    dims.batch = 5;
    dims.tableWidth = 7;
    dims.freeCapacity = 11;
    dims.inputWidth = 13;
    dims.preWidth = 17;
    OperatorEnvironment environment;
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

}  // namespace
}  // namespace advstep
