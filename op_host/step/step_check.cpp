// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of Step.

#include "op_host/step/step_check.h"

#include <limits>

#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

StepDims ReadDims(const StepParams& params) {
    const auto read = [&](size_t place, int64_t axis) {
        return DimOrZero(params.tensors[place], axis);
    };
    StepDims dims;
    dims.batch = read(StepTensor::kSeqLensThisTime, 0);
    dims.slots = read(StepTensor::kStopFlags, 0);
    dims.tableWidth = read(StepTensor::kBlockTables, 1);
    dims.freeCapacity = read(StepTensor::kFreeList, 0);
    dims.inputWidth = read(StepTensor::kInputIds, 1);
    dims.preWidth = read(StepTensor::kPreIds, 1);
    return dims;
}

op::Status CheckStepShapes(const StepParams& params, const StepDims& dims) {
    CallDims<StepDim::kCount> values{};
    values[StepDim::kOne] = 1;
    values[StepDim::kBatch] = dims.batch;
    values[StepDim::kSlots] = dims.slots;
    // Each of these dims belongs to one tensor, and may have any value.
    values[StepDim::kTableWidth] = values[StepDim::kFree] = kAtLeastZero;
    values[StepDim::kInputWidth] = values[StepDim::kPreWidth] = kAtLeastZero;
    return CheckShapes<kStepSignature>(params.tensors, values);
}

// The tensors count slots and blocks in int32.
op::Status CheckDims(const StepDims& dims) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (dims.batch < 0 || dims.batch > dims.slots || dims.slots > kMost) {
        return op::Error(kTilingError, "seqLensThisTime has B = ", dims.batch,
                         " rows and stopFlags S = ", dims.slots,
                         "; expected 0 <= B <= S <= ", kMost);
    }
    if (dims.freeCapacity > kMost || dims.tableWidth > kMost) {
        return op::Error(kTilingError, "freeList has F = ", dims.freeCapacity,
                         " entries and blockTables W = ", dims.tableWidth,
                         " columns; expected at most ", kMost, " of each");
    }
    return {};
}

}  // namespace

op::Status CheckStep(const StepParams& params, StepDims* dims) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckLayouts<kStepSignature>(params.tensors));
    if (params.blockSize < 1) {
        return op::Error(kTilingError, "blockSize is ", params.blockSize, "; expected at least 1");
    }
    *dims = ReadDims(params);
    ADVSTEP_OP_RETURN_IF_ERROR(CheckStepShapes(params, *dims));
    return CheckDims(*dims);
}

}  // namespace advstep
