// SPDX-License-Identifier: Apache-2.0
// The loops that take many rows at a time, on every instruction set of this machine: the same bits
// and the same faults as the reference, whatever the shape.
#include "op_kernel/advance_step/advance_step_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "op_kernel/advance_step/advance_step_v2_lanes.h"
#include "support/batches.h"
#include "unit/op_kernel/isas.h"
#include "unit/op_kernel/kernel_bench.h"
#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

using namespace unit;

// Instruction set; bits 0 to 2: int32 lengths, slots, tables.
class LanesTest : public testing::TestWithParam<std::tuple<Isa, int>> {
 protected:
    const Isa isa_ = std::get<0>(GetParam());
    const int bits_ = std::get<1>(GetParam());
    const ElementTypes types_{(bits_ & 1) != 0, (bits_ & 2) != 0, (bits_ & 4) != 0};
    const AdvanceStepKernels kernels_ =
        StandardKernels(types_.lengths32, types_.slots32, types_.tables32);
    const reference::AdvanceStepLimits limits_{types_.lengths32 ? kMost32 : kMost64,
                                               types_.slots32 ? kMost32 : kMost64};

    // Alone and with many cores in a call; with the slots kept, in part, and worked out twice.
    std::vector<Machine> Machines(int64_t rows) const {
        return {{1, 4096, 40, 0, isa_, rows, 1},
                {40, 7, 40, 3, isa_, 0, 40},
                {3, 16, 40, 1, isa_, rows / 2 + 1, 2}};
    }
    void ExpectAsReference(const reference::AdvanceStepData& data) {
        reference::AdvanceStepData expected = data;
        const auto error = reference::AdvanceStepStandard(expected, limits_);
        for (const Machine& machine : Machines(data.numSeqs)) {
            KernelBench bench(data, machine, types_);
            ASSERT_TRUE(SameFault(bench.Play(kernels_.check, PlayOrder::kAscending), error));
            ASSERT_TRUE(Same(bench.Data(), data));
            if (!error) {
                bench.Play(kernels_.commit, PlayOrder::kAscending);
                ASSERT_TRUE(Same(bench.Data(), expected));
            }
        }
        ExpectAsReferenceAtOnce(data, expected, error);
    }
    // The check and the update in one call.
    template <typename Error>
    void ExpectAsReferenceAtOnce(const reference::AdvanceStepData& data,
                                 const reference::AdvanceStepData& expected, const Error& error) {
        for (const int64_t keptRows : {data.numSeqs, data.numSeqs / 3, int64_t{0}}) {
            KernelBench bench(data, {5, 4096, 40, 0, isa_, keptRows, 5}, types_);
            const Fault fault = bench.Play(kernels_.checkAndCommit, PlayOrder::kAscending);
            ASSERT_TRUE(SameFault(fault, error));
            ASSERT_TRUE(Same(bench.Data(), error ? data : expected));
        }
    }
};

TEST_P(LanesTest, EveryNumberOfRows) {
    std::vector<int64_t> counts;
    for (int64_t rows = 1; rows <= 70; ++rows) {
        counts.push_back(rows);
    }
    for (const int64_t power : {128, 256, 512, 1024}) {
        counts.insert(counts.end(), {power - 1, power, power + 1});
    }
    for (const int64_t rows : counts) {
        for (const int64_t blockSize : {1, 3, 7, 16, 100, 128}) {
            SCOPED_TRACE(testing::Message() << rows << " rows, blockSize " << blockSize);
            const auto seed = static_cast<uint64_t>(rows * 1000 + blockSize);
            ExpectAsReference(support::MakeBatch(rows, rows, blockSize, 9, seed));
            ExpectAsReference(support::MakeBatch(rows + 5, rows, blockSize, 9, seed));
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST_P(LanesTest, HugeBlocks) {
    for (const int64_t blockSize :
         {int64_t{1} << 31, (int64_t{1} << 31) - 1, (int64_t{1} << 31) + 1, int64_t{1} << 40,
          kMost64 / 9, kMost64}) {
        SCOPED_TRACE(blockSize);
        reference::AdvanceStepData data = support::MakeBatch(37, 36, 16, 3, 4);
        data.blockSize = blockSize;
        for (size_t row = 0; row < data.seqLens.size(); ++row) {
            const int64_t most = std::min(limits_.slotMapping, limits_.seqLens - 1);
            data.seqLens[row] = most - static_cast<int64_t>(row) * 1000;
        }
        for (int64_t& block : data.blockTables) {
            block = 0;
        }
        ExpectAsReference(data);
        data.seqLens[20] = -1;
        ExpectAsReference(data);
    }
}

// Each kind of fault in each row of a vector and beside it.
TEST_P(LanesTest, FaultsInEveryRow) {
    for (const int64_t blockSize : {16, 100}) {
        for (size_t row = 0; row < 41; ++row) {
            SCOPED_TRACE(testing::Message() << "row " << row << ", blockSize " << blockSize);
            const reference::AdvanceStepData good = support::MakeBatch(41, 41, blockSize, 6, 11);
            const int64_t end = blockSize * 6;
            for (const int64_t length : {int64_t{-1}, std::numeric_limits<int64_t>::min(), end,
                                         end + 1, limits_.seqLens - 1, limits_.seqLens}) {
                reference::AdvanceStepData data = good;
                data.seqLens[row] = types_.lengths32 && length < -kMost32 ? -kMost32 - 1 : length;
                ExpectAsReference(data);
            }
            const size_t entry = row * 6 + static_cast<size_t>(good.seqLens[row] / blockSize);
            const int64_t most = types_.tables32 ? kMost32 : kMost64;
            const int64_t lastGood =
                (limits_.slotMapping - good.seqLens[row] % blockSize) / blockSize;
            for (const int64_t block : {int64_t{-1}, -most - 1, most, std::min(most, lastGood),
                                        std::min(most, lastGood + 1)}) {
                reference::AdvanceStepData data = good;
                data.blockTables[entry] = block;
                ExpectAsReference(data);
            }
            reference::AdvanceStepData two = good;
            two.seqLens[row] = -1;
            two.blockTables[(40 - row) * 6 +
                            static_cast<size_t>(good.seqLens[40 - row] / blockSize)] = -1;
            ExpectAsReference(two);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

// Enough rows for the loops that fetch ahead, on tables that are narrow to keep this quick.
TEST_P(LanesTest, BeyondTheCaches) {
    reference::AdvanceStepData data = support::MakeBatch(8192 + 77, 8192 + 70, 100, 2, 12);
    ExpectAsReference(data);
    data.seqLens[8180] = 200;
    data.seqLens[8181] = -7;
    ExpectAsReference(data);
}

// A share of a launch whose results the caches cannot hold, with slots that are given.
template <typename Length, typename Slot>
void ExpectMovedBeyondTheCaches(const AdvanceStepLanes& lanes) {
    constexpr int64_t kBegin = 5;
    constexpr int64_t kRows = 2 * 128 + 37;
    constexpr size_t kAll = kBegin + kRows + 9;
    AdvanceStepTiling tiling{};
    tiling.numSeqs = tiling.numQueries = int64_t{1} << 22;
    std::vector<int64_t> sampled(kAll), tokens(kAll, -1), positions(kAll, -1);
    std::vector<Length> lengths(kAll);
    std::vector<Slot> mapping(kAll, -1), slots(kRows);
    std::iota(sampled.begin(), sampled.end(), int64_t{1} << 40);
    std::iota(lengths.begin(), lengths.end(), Length{70});
    std::iota(slots.begin(), slots.end(), Slot{3000});
    AdvanceStepArgs args{};
    args.inputTokens = tokens.data();
    args.sampledTokenIds = sampled.data();
    args.inputPositions = positions.data();
    args.seqLens = lengths.data();
    args.slotMapping = mapping.data();
    lanes.advance(tiling, args, kBegin, kRows, slots.data());
    for (int64_t row = 0; row < static_cast<int64_t>(kAll); ++row) {
        const bool moved = row >= kBegin && row < kBegin + kRows;
        const auto at = static_cast<size_t>(row);
        ASSERT_EQ(tokens[at], moved ? (int64_t{1} << 40) + row : -1) << row;
        ASSERT_EQ(positions[at], moved ? 70 + row : -1) << row;
        ASSERT_EQ(lengths[at], 70 + row + (moved ? 1 : 0)) << row;
        ASSERT_EQ(mapping[at], moved ? 3000 + row - kBegin : -1) << row;
    }
}

TEST_P(LanesTest, ResultsBeyondTheCaches) {
    const AdvanceStepLanes& lanes =
        LanesFor(isa_, types_.lengths32, types_.slots32, types_.tables32);
    const auto with = [&](auto length) {
        types_.slots32 ? ExpectMovedBeyondTheCaches<decltype(length), int32_t>(lanes)
                       : ExpectMovedBeyondTheCaches<decltype(length), int64_t>(lanes);
    };
    types_.lengths32 ? with(int32_t{}) : with(int64_t{});
}

// The rows behind are those of another core.
TEST(V2LanesTest, TheyEndAtTheLastWholeGroupOfTheirShare) {
    constexpr int64_t kRows = 2;  // of a query
    AdvanceStepV2Tiling tiling{};
    tiling.rowsPerQuery = kRows;
    tiling.blockSize = 16;
    tiling.blockTableStride = 1;
    tiling.math = MakeBlockMath(16, 1, kMost64, kMost64);
    for (const Isa isa : IsasOfThisMachine()) {
        const AdvanceStepV2Lanes* const lanes = V2LanesFor(isa, tiling);
        if (lanes == nullptr) {
            continue;  // it takes a query at a time
        }
        for (const int64_t more : {int64_t{0}, lanes->queries - 1}) {
            SCOPED_TRACE(testing::Message() << static_cast<int>(isa) << ", " << more << " more");
            const int64_t share = lanes->queries + more;
            const auto group = static_cast<size_t>(lanes->queries * kRows);
            std::vector<int64_t> tokens(4 * group, 1);
            std::vector<int64_t> positions;
            for (size_t row = 0; row < 4 * group; ++row) {
                positions.push_back(static_cast<int64_t>(row) % kRows);
            }
            std::vector<int64_t> lengths(4 * group, -1);
            std::vector<int64_t> mapping(4 * group, -1);
            const auto keptOfGroup =
                static_cast<size_t>(lanes->queries * AdvanceStepV2Lanes::kKeptValues);
            std::vector<int64_t> kept(4 * keptOfGroup, -1);
            const std::vector<int64_t> threes(4 * group, 3);  // sampled, spec, accepted, tables
            const AdvanceStepV2Args args{{tokens.data(), threes.data(), positions.data(),
                                          lengths.data(), mapping.data(), threes.data()},
                                         threes.data(),
                                         threes.data()};
            EXPECT_EQ(lanes->place(tiling, args, false, 0, share, kept.data()), lanes->queries);
            EXPECT_EQ(std::count(kept.begin(), kept.end(), -1),
                      static_cast<std::ptrdiff_t>(3 * keptOfGroup));
            EXPECT_EQ(lanes->advance(args, 0, share, kept.data()), lanes->queries);
            for (size_t row = 0; row < 4 * group; ++row) {
                const bool moved = row < group;
                const int64_t before = static_cast<int64_t>(row) % kRows;
                ASSERT_EQ(positions[row], moved ? before + 4 : before) << row;
                ASSERT_EQ(lengths[row], moved ? before + 5 : -1) << row;
                ASSERT_EQ(mapping[row], moved ? 3 * 16 + before + 4 : -1) << row;
                ASSERT_EQ(tokens[row], moved ? 3 : 1) << row;
            }
        }
    }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Isa, int>>& row) {
    static constexpr const char* kNames[] = {"Baseline", "Avx2", "Avx512"};
    return kNames[static_cast<int>(std::get<0>(row.param))] +
           std::to_string(std::get<1>(row.param));
}

INSTANTIATE_TEST_SUITE_P(Isas, LanesTest,
                         testing::Combine(testing::ValuesIn(IsasOfThisMachine()),
                                          testing::Range(0, 8)),
                         NameOf);

}  // namespace
}  // namespace advstep
