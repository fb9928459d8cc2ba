// SPDX-License-Identifier: Apache-2.0
// Computes the tiling of Step.

#include "op_host/step/step_tiling.h"

#include <algorithm>

#include "advance_step/operator/plan.hpp"

namespace advstep {
namespace {

// The sets of slots of a core are words of 64 bits. A core with fewer than a few words costs more
// than it saves.
constexpr int64_t kSlotsPerWord = 64;
constexpr int64_t kFewestSlotsPerCore = 4 * kSlotsPerWord;

int32_t ShiftOf(int64_t blockSize) {
    constexpr int32_t kMostShift = 31;  // shifts every int32 that is not negative to 0
    if ((blockSize & (blockSize - 1)) != 0) {
        return -1;
    }
    int32_t shift = 0;
    while (shift < kMostShift && (int64_t{1} << shift) < blockSize) {
        ++shift;
    }
    return shift;
}

// The rows of the tables, of inputIds and of preIds that a step may move.
bool MovesLittle(const StepTiling& tiling) {
    constexpr int64_t kMostColumns = kBriefBytes;  // so that nothing overflows
    const int64_t tokens = std::min(tiling.inputWidth, tiling.preWidth);
    return tiling.batch <= kMostColumns && tokens <= kMostColumns &&
           tiling.tableWidth <= kMostColumns &&
           tiling.batch * (tokens * int64_t{sizeof(int64_t)} +
                           tiling.tableWidth * int64_t{sizeof(int32_t)}) <=
               kBriefBytes;
}

}  // namespace

StepTiling TileStep(const StepDims& dims, int64_t blockSize,
                    const OperatorEnvironment& environment) {
    StepTiling tiling{};
    tiling.exact = environment.conformance == Conformance::kExact ? 1 : 0;
    const int64_t words =
        op::CeilDiv(op::CeilDiv(dims.batch, environment.vectorCores), kSlotsPerWord);
    tiling.slotsPerCore = std::max(kFewestSlotsPerCore, words * kSlotsPerWord);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(dims.batch, tiling.slotsPerCore));
    tiling.batch = dims.batch;
    tiling.tableWidth = dims.tableWidth;
    tiling.freeCapacity = dims.freeCapacity;
    tiling.inputWidth = dims.inputWidth;
    tiling.preWidth = dims.preWidth;
    tiling.blockSize = blockSize;
    tiling.blockShift = ShiftOf(blockSize);
    tiling.blockInverse = 1.0 / static_cast<double>(blockSize);
    tiling.movesLittle = MovesLittle(tiling) ? 1 : 0;
    return tiling;
}

}  // namespace advstep
