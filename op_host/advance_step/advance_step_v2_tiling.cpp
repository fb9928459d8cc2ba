// SPDX-License-Identifier: Apache-2.0
// Computes the tiling of AdvanceStepV2.

#include "op_host/advance_step/advance_step_v2_tiling.h"

#include <algorithm>
#include <limits>

#include "advance_step/operator/plan.hpp"
#include "op_host/advance_step/advance_step_tiling.h"

namespace advstep {
namespace {

// The values that a row keeps in the buffer: sampled or spec token, token, position, length, slot,
// block id and the accepted count.
constexpr int64_t kV2BytesPerRow = 7 * sizeof(int64_t);

}  // namespace

AdvanceStepV2Tiling TileAdvanceStepV2(const AdvanceStepParams& params,
                                      const OperatorEnvironment& environment) {
    AdvanceStepV2Tiling tiling{};
    tiling.rowsPerQuery = params.tensors[AdvanceStepV2Tensor::kSpecToken].dims[1] + 1;
    tiling.rows = params.numSeqs * tiling.rowsPerQuery;
    tiling.rowsPerCore = op::CeilDiv(tiling.rows, environment.vectorCores);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(tiling.rows, tiling.rowsPerCore));
    tiling.rowsPerTile =
        std::clamp<int64_t>(environment.unifiedBufferBytes / kV2BytesPerRow, 1, tiling.rowsPerCore);
    tiling.blockSize = params.blockSize;
    const TensorView& blockTables = params.tensors[AdvanceStepTensor::kBlockTables];
    tiling.maxBlocks = blockTables.dims[1];
    tiling.blockTableStride = RowStrideOf(blockTables);
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    tiling.math = MakeBlockMath(tiling.blockSize, tiling.maxBlocks, kMost, kMost);
    return tiling;
}

}  // namespace advstep
