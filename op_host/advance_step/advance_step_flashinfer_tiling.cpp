// SPDX-License-Identifier: Apache-2.0
// Computes the tiling of AdvanceStepFlashInfer.

#include "op_host/advance_step/advance_step_flashinfer_tiling.h"

#include "op_host/advance_step/advance_step_tiling.h"

namespace advstep {
namespace {

// AdvanceStep's six values of 64 bits, and a place in pagedKvIndptr, a bound, a length and a page.
constexpr int64_t kFlashInferBytesPerRow = 6 * sizeof(int64_t) + 4 * sizeof(int32_t);

}  // namespace

AdvanceStepFlashInferTiling TileAdvanceStepFlashInfer(const AdvanceStepParams& params,
                                                      const OperatorEnvironment& environment) {
    AdvanceStepFlashInferTiling tiling{};
    tiling.rows = TileAdvanceStep(params, environment, kFlashInferBytesPerRow);
    tiling.capacity = params.tensors[AdvanceStepFlashInferTensor::kPagedKvIndices].dims[0];
    return tiling;
}

}  // namespace advstep
