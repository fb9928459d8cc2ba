// SPDX-License-Identifier: Apache-2.0
// The kernels of AdvanceStepV2 on every instruction set of this machine, with memory for all
// queries, for some and for none from phase to phase, on cores that share queries.
#include "op_kernel/advance_step/advance_step_v2_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/advance_step_v2_batch.h"
#include "unit/op_kernel/isas.h"
#include "unit/op_kernel/limits.h"

namespace advstep {
namespace {

using reference::AdvanceStepV2Data;

constexpr int64_t kSeqs[] = {45, 48};  // 48 are whole groups
constexpr int64_t kSeveralTurns = 200;
constexpr int64_t kBlockSize = 8;
constexpr int64_t kMaxBlocks = 40;
constexpr unsigned char kUnwritten = 0xA5;

AdvanceStepV2Payload PayloadOf(AdvanceStepV2Data* data, int32_t cores) {
    AdvanceStepV2Payload payload{};
    AdvanceStepV2Tiling& t = payload.tiling;
    t.rowsPerQuery = data->RowsPerQuery();
    t.rows = data->numSeqs * t.rowsPerQuery;
    t.rowsPerCore = (t.rows + cores - 1) / cores;
    t.rowsPerTile = 7;
    t.coreCount = cores;
    t.blockSize = data->blockSize;
    t.maxBlocks = data->maxBlocks;
    t.blockTableStride = data->maxBlocks;
    t.math = MakeBlockMath(t.blockSize, t.maxBlocks, unit::kMost64, unit::kMost64);
    payload.args = {
        {data->inputTokens.data(), data->sampledTokenIds.data(), data->inputPositions.data(),
         data->seqLens.data(), data->slotMapping.data(), data->blockTables.data()},
        data->specToken.data(),
        data->acceptedNum.data()};
    return payload;
}

// Plays check and commit on the data, core by core, with so many bytes to keep values in.
void Play(const AdvanceStepKernels& kernels, Isa isa, int32_t cores, int64_t keptBytes,
          AdvanceStepV2Data* data) {
    const AdvanceStepV2Payload payload = PayloadOf(data, cores);
    constexpr int64_t kBehind = 4096;
    std::vector<unsigned char> kept(static_cast<size_t>(keptBytes + kBehind), kUnwritten);
    for (const KernelFn phase : {kernels.check, kernels.commit}) {
        for (int32_t core = 0; core < cores; ++core) {
            Fault fault;
            phase(CoreContext{core, &fault, 1, isa, kept.data(), keptBytes}, &payload);
            ASSERT_FALSE(fault.found());
        }
    }
    EXPECT_EQ(std::count(kept.end() - kBehind, kept.end(), kUnwritten), kBehind)
        << "written behind";
}

// On every instruction set, on one core and on four.
void ExpectSame(const AdvanceStepV2Data& data) {
    AdvanceStepV2Data expected = data;
    ASSERT_FALSE(reference::AdvanceStepV2(expected, false));
    const int64_t rows = data.RowsPerQuery();
    const AdvanceStepKernels kernels = V2Kernels(false, rows);
    const int64_t all = data.numSeqs * std::max<int64_t>(40, 8 * rows);
    for (const Isa isa : unit::IsasOfThisMachine()) {
        for (const int64_t keptBytes : {int64_t{0}, int64_t{39}, all / 2, all - 1, all}) {
            for (const int32_t cores : {1, 4}) {
                SCOPED_TRACE(testing::Message()
                             << "instruction set " << static_cast<int>(isa) << ", " << keptBytes
                             << " bytes, " << cores << " cores");
                AdvanceStepV2Data got = data;
                ASSERT_NO_FATAL_FAILURE(Play(kernels, isa, cores, keptBytes, &got));
                for (size_t tensor = 0; tensor < expected.Tensors().size(); ++tensor) {
                    ASSERT_EQ(*got.Tensors()[tensor], *expected.Tensors()[tensor]) << tensor;
                }
            }
        }
    }
}

TEST(V2KernelTest, AnyRoomForWhatTheCheckKeeps) {
    for (const int64_t seqs : kSeqs) {
        for (const int64_t specNum : {1, 2, 4, 7, 9}) {
            SCOPED_TRACE(testing::Message() << seqs << " queries, " << specNum << " spec tokens");
            ASSERT_NO_FATAL_FAILURE(
                ExpectSame(support::MakeUsualV2Data(seqs, specNum, kBlockSize, kMaxBlocks, 5)));
        }
    }
}

// The vector loops look the block ids up in turns, whose ends are at multiples of 64 or 128
// queries.
TEST(V2KernelTest, UnusualQueriesAroundTheEndsOfTurns) {
    constexpr int64_t kSpecNum = 4;
    const AdvanceStepV2Data usual =
        support::MakeUsualV2Data(kSeveralTurns, kSpecNum, kBlockSize, kMaxBlocks, 6);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(usual));
    for (const size_t query : {0, 7, 8, 63, 64, 120, 127, 128, 135, 136, 191, 192, 199}) {
        SCOPED_TRACE(query);
        AdvanceStepV2Data data = usual;
        // Its rows do not follow each other.
        std::swap(data.inputPositions[query * (kSpecNum + 1) + 1],
                  data.inputPositions[query * (kSpecNum + 1) + 3]);
        ASSERT_NO_FATAL_FAILURE(ExpectSame(data));
        data.inputPositions = usual.inputPositions;
        // A block id that no row needs may be anything.
        data.blockTables[query * kMaxBlocks + kMaxBlocks - 1] = -1;
        ASSERT_NO_FATAL_FAILURE(ExpectSame(data));
    }
}

TEST(V2KernelTest, BadBlocksAroundTheEndsOfTurns) {
    constexpr int64_t kSpecNum = 4;
    const AdvanceStepV2Data good =
        support::MakeUsualV2Data(kSeveralTurns, kSpecNum, kBlockSize, kMaxBlocks, 7);
    std::vector<unsigned char> kept(static_cast<size_t>(kSeveralTurns) * 40);
    for (const size_t query : {0, 7, 8, 63, 64, 120, 127, 128, 135, 136, 191, 192, 199}) {
        AdvanceStepV2Data data = good;
        const int64_t position =
            data.inputPositions[query * (kSpecNum + 1)] + data.acceptedNum[query] + 1;
        data.blockTables[query * kMaxBlocks + static_cast<size_t>(position / kBlockSize)] = -1;
        AdvanceStepV2Data expected = data;
        const auto error = reference::AdvanceStepV2(expected, false);
        ASSERT_TRUE(error);
        const AdvanceStepV2Payload payload = PayloadOf(&data, 1);
        for (const Isa isa : unit::IsasOfThisMachine()) {
            SCOPED_TRACE(testing::Message()
                         << "query " << query << ", instruction set " << static_cast<int>(isa));
            Fault fault;
            V2Kernels(false, kSpecNum + 1)
                .check({0, &fault, 1, isa, kept.data(), static_cast<int64_t>(kept.size())},
                       &payload);
            EXPECT_EQ(fault.row, error->row);
            EXPECT_EQ(fault.kind, static_cast<int32_t>(AdvanceStepFault::kNegativeBlock));
        }
    }
}

// It is enough for the queries that loops take together: 40 bytes each.
TEST(V2KernelTest, RoomForEveryQueryIsAskedFor) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 9, 1000}) {
        const int64_t bytes = V2Kernels(true, rows).keptBytesPerRow;
        EXPECT_GE(bytes * rows, 40) << rows;
        EXPECT_LE(bytes, 8 + 40 / rows) << rows;
    }
}

}  // namespace
}  // namespace advstep
