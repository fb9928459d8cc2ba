// SPDX-License-Identifier: Apache-2.0
// Computes the tiling of AdvanceStep.

#include "op_host/advance_step/advance_step_tiling.h"

#include <algorithm>
#include <limits>

#include "advance_step/operator/plan.hpp"
#include "op_host/advance_step/advance_step_device_shapes.h"

namespace advstep {
namespace {

// The values that a row keeps in the buffer: sampled token, token, position, length, slot and block
// id.
constexpr int64_t kBytesPerRow = 6 * sizeof(int64_t);

int64_t LastOf(const TensorView& tensor) {
    return tensor.dataType == ACL_INT32 ? std::numeric_limits<int32_t>::max()
                                        : std::numeric_limits<int64_t>::max();
}

}  // namespace

AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment) {
    return TileAdvanceStep(params, environment, kBytesPerRow);
}

AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment, int64_t bytesPerRow) {
    AdvanceStepTiling tiling{};
    tiling.exactCores = environment.socVectorCores;
    tiling.rowsPerCore = op::CeilDiv(params.numSeqs, environment.vectorCores);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(params.numSeqs, tiling.rowsPerCore));
    tiling.rowsPerTile =
        std::clamp<int64_t>(environment.unifiedBufferBytes / bytesPerRow, 1, tiling.rowsPerCore);
    tiling.numSeqs = params.numSeqs;
    tiling.numQueries = params.numQueries;
    tiling.blockSize = params.blockSize;
    const TensorView& blockTables = params.tensors[AdvanceStepTensor::kBlockTables];
    tiling.maxBlocks = ColumnsOf(blockTables);
    tiling.blockTableStride = RowStrideOf(blockTables);
    tiling.math = MakeBlockMath(tiling.blockSize, tiling.maxBlocks,
                                LastOf(params.tensors[AdvanceStepTensor::kSeqLens]),
                                LastOf(params.tensors[AdvanceStepTensor::kSlotMapping]));
    return tiling;
}

int64_t RowStrideOf(const TensorView& table) {
    return table.rank == 2 && table.dims[0] > 1 ? table.strides[0] : ColumnsOf(table);
}

}  // namespace advstep
