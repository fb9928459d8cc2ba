// SPDX-License-Identifier: Apache-2.0
// Conformance exact against the reference, and the comparison with it.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_rows.h"
#include "support/batches.h"
#include "unit/op_kernel/kernel_bench.h"
#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

using namespace unit;

// Tables of int64 and of int32.
class ExactKernelTest : public testing::TestWithParam<bool> {
 protected:
    const AdvanceStepKernels kernels_ = ExactKernels(GetParam());
    const unit::ElementTypes types_{false, false, GetParam()};

    void ExpectAsReference(const reference::AdvanceStepData& data, const Machine& machine) {
        reference::AdvanceStepData expected = data;
        const auto error = reference::AdvanceStepExact(expected, machine.exactCores);
        for (const PlayOrder order : unit::kPlayOrders) {
            KernelBench bench(data, machine, types_);
            ASSERT_TRUE(SameFault(bench.Play(kernels_.check, order), error));
            ASSERT_TRUE(Same(bench.Data(), data));
            if (!error) {
                EXPECT_FALSE(bench.Play(kernels_.commit, order).found());
                EXPECT_TRUE(Same(bench.Data(), expected));
            }
        }
    }
};

TEST_P(ExactKernelTest, AdvancesAsTheReference) {
    uint64_t seed = 0;
    for (const int32_t exactCores : {1, 2, 7, 40, 48}) {
        for (const int64_t numSeqs : {2, 8, 41, 130}) {
            for (const int64_t numQueries : {int64_t{1}, numSeqs / 2, numSeqs - 1}) {
                for (const int64_t cores : {1, 3, 40}) {
                    ExpectAsReference(support::MakeBatch(numSeqs, numQueries, 16, 3, ++seed),
                                      {cores, 5, exactCores, 0});
                }
            }
        }
    }
}

TEST_P(ExactKernelTest, ReadsTheViewRowByRow) {
    ExpectAsReference(support::MakeBatch(20, 15, 4, 3, 5), {4, 4096, 8, 6});
}

TEST_P(ExactKernelTest, ReadsOtherRowsOfTheTable) {
    reference::AdvanceStepData data = support::MakeBatch(6, 4, 4, 3, 6);
    data.seqLens = {0, 4 * 17 + 3, 4 * 9, 4 * 12 + 1, 0, 0};  // flat 0, 17 (the last), 9, 12
    ExpectAsReference(data, {2, 4096, 40, 2});
}

TEST_P(ExactKernelTest, DivisionTruncates) {
    reference::AdvanceStepData data = support::MakeBatch(6, 4, 4, 3, 7);
    data.seqLens = {-1, -2, -3, 0, 0, 0};  // all read entry 0 and keep their remainder
    ExpectAsReference(data, {2, 4096, 40, 0});
}

TEST_P(ExactKernelTest, ArithmeticWraps) {
    reference::AdvanceStepData data = support::MakeBatch(4, 3, 1, 2, 8);
    data.blockSize = kMost64;
    data.seqLens = {kMost64, kMost64 - 1, -5, 0};  // kMost64 + 1 wraps, and kMost64 * block does
    ExpectAsReference(data, {2, 4096, 40, 0});
}

TEST_P(ExactKernelTest, FlatIndexMustBeInTheTable) {
    for (const int64_t length :
         {int64_t{4 * 18}, int64_t{-4}, kMost64, std::numeric_limits<int64_t>::min()}) {
        for (size_t query = 0; query < 4; ++query) {
            reference::AdvanceStepData data = support::MakeBatch(6, 4, 4, 3, 9);
            data.seqLens[query] = length;
            ExpectAsReference(data, {3, 4096, 40, 0});
        }
    }
}

TEST_P(ExactKernelTest, FaultCarriesPositionAndFlatIndex) {
    reference::AdvanceStepData data = support::MakeBatch(6, 4, 4, 3, 9);
    data.seqLens[1] = data.seqLens[3] = 4 * 18 + 2;
    KernelBench bench(data, {2, 4096, 40, 0}, types_);
    const Fault fault = bench.Play(kernels_.check, PlayOrder::kDescending);
    EXPECT_EQ(fault.row, 1);
    EXPECT_EQ(fault.kind, static_cast<int32_t>(AdvanceStepFault::kFlatOutside));
    EXPECT_EQ(fault.values[0], 4 * 18 + 2);
    EXPECT_EQ(fault.values[1], 18);
}

TEST_P(ExactKernelTest, QueriesBeyondTheCoresAreNotChecked) {
    reference::AdvanceStepData data = support::MakeBatch(12, 10, 4, 3, 10);
    data.seqLens[4] = -400;
    ExpectAsReference(data, {3, 4096, 4, 0});  // query 4 does not advance on 4 cores
    ExpectAsReference(data, {3, 4096, 5, 0});
}

TEST_P(ExactKernelTest, HasNoComparison) { EXPECT_EQ(kernels_.compare, nullptr); }

INSTANTIATE_TEST_SUITE_P(Table, ExactKernelTest, testing::Bool(), [](const auto& row) {
    return std::string(row.param ? "Tables32" : "Tables64");
});

// The first row whose tensors differ after both.
int64_t FirstDifference(const reference::AdvanceStepData& a, const reference::AdvanceStepData& b) {
    for (size_t row = 0; row < a.seqLens.size(); ++row) {
        if (a.inputTokens[row] != b.inputTokens[row] ||
            a.inputPositions[row] != b.inputPositions[row] || a.seqLens[row] != b.seqLens[row] ||
            a.slotMapping[row] != b.slotMapping[row]) {
            return static_cast<int64_t>(row);
        }
    }
    return Fault::kNone;
}

// Small values, so that rows agree by chance often enough.
reference::AdvanceStepData SmallBatch(uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto upTo = [&](uint64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
    reference::AdvanceStepData data =
        support::MakeBatch(3 + upTo(9), 1 + upTo(1), 1 + upTo(3), 1 + upTo(2), seed);
    for (int64_t& block : data.blockTables) {
        block = random() % 4 == 0 ? upTo(2) : 0;
    }
    for (int64_t row = data.numQueries; row < data.numSeqs; ++row) {
        if (random() % 8 != 0) {  // most padding rows are blank already
            const auto index = static_cast<size_t>(row);
            data.inputTokens[index] = data.inputPositions[index] = 0;
            data.slotMapping[index] = -1;
        }
    }
    return data;
}

TEST(CompareKernelTest, FindsTheFirstRowThatDiffers) {
    int different = 0;
    int alike = 0;
    int padding = 0;
    for (uint64_t seed = 0; seed < 400; ++seed) {
        const reference::AdvanceStepData data = SmallBatch(seed);
        const auto exactCores = static_cast<int32_t>(1 + seed % 4);
        reference::AdvanceStepData standard = data;
        reference::AdvanceStepData exact = data;
        ASSERT_FALSE(reference::AdvanceStepStandard(standard).has_value());
        ASSERT_FALSE(reference::AdvanceStepExact(exact, exactCores).has_value());
        const int64_t expected = FirstDifference(standard, exact);
        const unit::ElementTypes types{(seed & 1) != 0, (seed & 2) != 0, (seed & 4) != 0};
        KernelBench bench(data, {3, 2, exactCores, static_cast<int64_t>(seed % 3)}, types);
        const AdvanceStepKernels kernels =
            StandardKernels(types.lengths32, types.slots32, types.tables32);
        for (const PlayOrder order : unit::kPlayOrders) {
            const Fault fault = bench.Play(kernels.compare, order);
            EXPECT_EQ(fault.row, expected) << "seed " << seed;
            ASSERT_TRUE(Same(bench.Data(), data));
            const bool isPadding =
                fault.kind == static_cast<int32_t>(AdvanceStepFault::kPaddingDivergence);
            EXPECT_EQ(isPadding, expected >= data.numQueries) << "seed " << seed;
            padding += isPadding ? 1 : 0;
        }
        ++(expected == Fault::kNone ? alike : different);
    }
    EXPECT_GT(different, 40);
    EXPECT_GT(alike, 20);
    EXPECT_GT(padding, 20);
}

TEST(CompareKernelTest, CarriesBothSlots) {
    reference::AdvanceStepData data = support::MakeBatch(3, 2, 4, 2, 3);
    data.seqLens = {1, 5, 0};
    data.blockTables = {6, 5, 8, 9, 0, 0};
    const AdvanceStepKernels kernels = StandardKernels(false, false, false);
    {
        KernelBench bench(data, {1, 4096, 40, 0});
        const Fault fault = bench.Play(kernels.compare, PlayOrder::kAscending);
        EXPECT_EQ(fault.row, 1);
        EXPECT_EQ(fault.kind, static_cast<int32_t>(AdvanceStepFault::kDivergence));
        EXPECT_EQ(fault.values[0], 9 * 4 + 1);
        EXPECT_EQ(fault.values[1], (5 + 2) * 4 + 1);
    }
    {
        KernelBench bench(data, {1, 4096, 1, 0});  // exact leaves query 1 alone
        const Fault fault = bench.Play(kernels.compare, PlayOrder::kAscending);
        EXPECT_EQ(fault.row, 1);
        EXPECT_EQ(fault.values[1], std::numeric_limits<int64_t>::min());
    }
}

}  // namespace
}  // namespace advstep
