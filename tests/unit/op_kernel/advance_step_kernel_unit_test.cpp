// SPDX-License-Identifier: Apache-2.0
// Conformances standard and vllm against the reference.
#include "op_kernel/advance_step/advance_step_kernel.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/batches.h"
#include "support/table.h"
#include "unit/op_kernel/kernel_bench.h"
#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

using namespace unit;

AdvanceStepKernels KernelsOf(const ElementTypes& types) {
    return StandardKernels(types.lengths32, types.slots32, types.tables32);
}

reference::AdvanceStepLimits LimitsOf(const ElementTypes& types) {
    return {types.lengths32 ? kMost32 : kMost64, types.slots32 ? kMost32 : kMost64};
}

// All combinations of element types.
class AdvanceStepKernelTest : public testing::TestWithParam<int> {
 protected:
    const ElementTypes types_{(GetParam() & 1) != 0, (GetParam() & 2) != 0, (GetParam() & 4) != 0};
    const AdvanceStepKernels kernels_ = KernelsOf(types_);

    void ExpectAdvances(const reference::AdvanceStepData& data, const Machine& machine) {
        reference::AdvanceStepData expected = data;
        ASSERT_FALSE(reference::AdvanceStepStandard(expected, LimitsOf(types_)).has_value());
        for (const PlayOrder order : unit::kPlayOrders) {
            KernelBench bench(data, machine, types_);
            ASSERT_TRUE(SameFault(bench.Play(kernels_.check, order), std::nullopt));
            ASSERT_TRUE(Same(bench.Data(), data));  // the check has written nothing
            EXPECT_FALSE(bench.Play(kernels_.commit, order).found());
            EXPECT_TRUE(Same(bench.Data(), expected));
        }
    }

    void ExpectFault(const reference::AdvanceStepData& data, const Machine& machine) {
        reference::AdvanceStepData unused = data;
        const auto expected = reference::AdvanceStepStandard(unused, LimitsOf(types_));
        for (const PlayOrder order : unit::kPlayOrders) {
            KernelBench bench(data, machine, types_);
            EXPECT_TRUE(SameFault(bench.Play(kernels_.check, order), expected));
            EXPECT_TRUE(Same(bench.Data(), data));
        }
    }
};

TEST_P(AdvanceStepKernelTest, AdvancesAsTheReference) {
    for (const int64_t cores : {1, 2, 3, 39, 40, 41, 48}) {
        for (const int64_t rowsPerTile : {1, 3, 4096}) {
            ExpectAdvances(support::MakeBatch(41, 30, 16, 8, 1), {cores, rowsPerTile, 40, 0});
        }
    }
}

TEST_P(AdvanceStepKernelTest, AdvancesBatchesOfManyShapes) {
    uint64_t seed = 100;
    for (const int64_t numSeqs : {2, 3, 40, 257}) {
        for (const int64_t numQueries : {int64_t{1}, numSeqs / 2, numSeqs - 1, numSeqs}) {
            for (const int64_t blockSize : {1, 7, 128}) {
                for (const int64_t maxBlocks : {1, 5}) {
                    ExpectAdvances(
                        support::MakeBatch(numSeqs, numQueries, blockSize, maxBlocks, ++seed),
                        {40, 4096, 40, 0});
                }
            }
        }
    }
}

TEST_P(AdvanceStepKernelTest, HonoursTheRowStrideOfBlockTables) {
    ExpectAdvances(support::MakeBatch(9, 7, 4, 3, 5), {4, 4096, 40, 6});
}

TEST_P(AdvanceStepKernelTest, BlockBordersAreExact) {
    reference::AdvanceStepData data = support::MakeBatch(8, 7, 16, 4, 6);
    data.seqLens = {0, 15, 16, 31, 32, 62, 63, 0};
    ExpectAdvances(data, {3, 4096, 40, 0});
}

TEST_P(AdvanceStepKernelTest, LargestValuesThatFitAdvance) {
    const reference::AdvanceStepLimits limits = LimitsOf(types_);
    reference::AdvanceStepData data = support::MakeBatch(3, 2, 1, 1, 7);
    data.blockSize = kMost64;  // one column holds every position
    data.seqLens[0] = limits.seqLens - 1;
    data.seqLens[1] = 0;
    data.blockTables = {0, 0, 0};
    data.seqLens[0] = std::min(data.seqLens[0], limits.slotMapping);
    ExpectAdvances(data, {2, 4096, 40, 0});
    data.blockSize = 1;
    data.seqLens[0] = 0;
    data.blockTables[0] = types_.tables32 ? kMost32 : limits.slotMapping;
    ExpectAdvances(data, {2, 4096, 40, 0});
}

TEST_P(AdvanceStepKernelTest, PaddingRowsAreNotChecked) {
    reference::AdvanceStepData data = support::MakeBatch(6, 3, 16, 4, 8);
    data.seqLens[3] = -5;
    data.seqLens[4] = 1 << 30;
    data.blockTables[5 * 4] = -1;
    ExpectAdvances(data, {2, 4096, 40, 0});
}

TEST_P(AdvanceStepKernelTest, BlockIdsOfOtherColumnsAreNotChecked) {
    reference::AdvanceStepData data = support::MakeBatch(4, 3, 16, 4, 9);
    data.seqLens[1] = 17;  // column 1
    for (const int64_t column : {0, 2, 3}) {
        data.blockTables[static_cast<size_t>(4 + column)] = -1;
    }
    ExpectAdvances(data, {2, 4096, 40, 0});
}

TEST_P(AdvanceStepKernelTest, LowestBadQueryIsFound) {
    std::mt19937_64 random(23);
    int faults = 0;
    for (int round = 0; round < 60; ++round) {
        reference::AdvanceStepData data = support::MakeBatch(50, 45, 16, 4, random());
        for (uint64_t defects = random() % 4; defects > 0; --defects, ++faults) {
            const size_t row = random() % 50;
            switch (random() % 5) {
                case 0:
                    data.seqLens[row] = -1 - static_cast<int64_t>(random() % 9);
                    break;
                case 1:
                    data.seqLens[row] = 64 + static_cast<int64_t>(random() % 3);
                    break;
                case 2:
                    data.seqLens[row] = types_.lengths32 ? kMost32 : kMost64;
                    break;
                case 3:
                    data.blockTables[row * 4 + random() % 4] = -1;
                    break;
                default:
                    data.blockTables[row * 4 + random() % 4] = types_.tables32 ? kMost32 : kMost64;
            }
        }
        ExpectFault(data, {1 + static_cast<int64_t>(random() % 48), 4096, 40, 0});
    }
    EXPECT_GT(faults, 50);
}

TEST_P(AdvanceStepKernelTest, LengthMustFitItsDtype) {
    reference::AdvanceStepData data = support::MakeBatch(3, 2, 1, 1, 10);
    data.blockSize = kMost64;
    data.blockTables = {0, 0, 0};
    data.seqLens[1] = LimitsOf(types_).seqLens;
    ExpectFault(data, {2, 4096, 40, 0});
}

INSTANTIATE_TEST_SUITE_P(Table, AdvanceStepKernelTest, testing::Range(0, 8), [](const auto& row) {
    const auto bits = [&](int bit) { return (row.param & bit) != 0 ? "32" : "64"; };
    return std::string("Lengths") + bits(1) + "Slots" + bits(2) + "Tables" + bits(4);
});

struct FaultCase {
    const char* name;
    int64_t seqLen;
    int64_t block;  // of every column
    ElementTypes types;
    AdvanceStepFault kind;
    std::vector<int64_t> values;
};

class AdvanceStepKernelFaultTest : public testing::TestWithParam<FaultCase> {};

// Query 2 of a batch with blockSize 16 and 4 columns.
TEST_P(AdvanceStepKernelFaultTest, IsReportedWithItsValues) {
    const FaultCase& c = GetParam();
    reference::AdvanceStepData data = support::MakeBatch(5, 4, 16, 4, 11);
    data.seqLens[2] = c.seqLen;
    std::fill_n(data.blockTables.begin() + 8, 4, c.block);
    KernelBench bench(data, {2, 4096, 40, 0}, c.types);
    const Fault fault = bench.Play(KernelsOf(c.types).check, PlayOrder::kAscending);
    EXPECT_EQ(fault.row, 2);
    EXPECT_EQ(fault.kind, static_cast<int32_t>(c.kind));
    for (size_t value = 0; value < c.values.size(); ++value) {
        EXPECT_EQ(fault.values[value], c.values[value]) << value;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepKernelFaultTest,
    testing::Values(
        FaultCase{"NegativePosition", -3, 5, {}, AdvanceStepFault::kNegativePosition, {-3}},
        FaultCase{"NegativePosition32",
                  -3,
                  5,
                  {true, false, false},
                  AdvanceStepFault::kNegativePosition,
                  {-3}},
        FaultCase{"ColumnOutside", 64, 5, {}, AdvanceStepFault::kColumnOutside, {64, 4}},
        FaultCase{"PositionBeyondInt32",
                  int64_t{1} << 40,
                  5,
                  {},
                  AdvanceStepFault::kColumnOutside,
                  {int64_t{1} << 40, int64_t{1} << 36}},
        FaultCase{"NegativeBlock", 33, -7, {}, AdvanceStepFault::kNegativeBlock, {33, 2, -7}},
        FaultCase{"NegativeBlock32",
                  33,
                  -7,
                  {false, false, true},
                  AdvanceStepFault::kNegativeBlock,
                  {33, 2, -7}},
        FaultCase{"SlotBeyondInt64",
                  33,
                  kMost64 / 16 + 1,
                  {},
                  AdvanceStepFault::kSlotTooLarge,
                  {33, 2, kMost64 / 16 + 1}},
        FaultCase{"SlotBeyondInt32",
                  33,
                  kMost32 / 16 + 1,
                  {false, true, false},
                  AdvanceStepFault::kSlotTooLarge,
                  {33, 2, kMost32 / 16 + 1}}),
    support::CaseName());

}  // namespace
}  // namespace advstep
