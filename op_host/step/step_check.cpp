#include "op_host/step/step_check.h"

#include <limits>

#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

// 0 where the rank says that the shape check will fail.
int64_t DimOf(const TensorView& view, int64_t axis) {
    return view.rank > axis ? view.dims[axis] : 0;
}

Status CheckTensor(const TensorView& view, const StepTensor& tensor, const StepDims& dims) {
    const char* const name = tensor.name;
    switch (tensor.shape) {
        case StepShape::kSlots:
            return CheckVector(view, name, "[S]", dims.slots);
        case StepShape::kBatch:
            return CheckVector(view, name, "[B]", dims.batch);
        case StepShape::kScalar:
            return CheckShape(view, name, {{"[1]", {1}}});
        case StepShape::kTable:
            return CheckShape(view, name, {{"[S, W]", {dims.slots, ExpectedShape::kAnyOrNone}}});
        case StepShape::kFree:
            return CheckShape(view, name, {{"[F]", {ExpectedShape::kAnyOrNone}}});
        case StepShape::kInput:
            return CheckShape(view, name, {{"[S, L]", {dims.slots, ExpectedShape::kAnyOrNone}}});
        case StepShape::kPre:
            return CheckShape(view, name, {{"[S, P]", {dims.slots, ExpectedShape::kAnyOrNone}}});
    }
    return {};
}

// Reads the dims off the tensors that set them; the first shape, in signature order, that differs.
Status CheckShapes(const StepParams& params, StepDims* dims) {
    dims->slots = DimOf(params.tensors[kStopFlags], 0);
    dims->batch = DimOf(params.tensors[kSeqLensThisTime], 0);
    dims->tableWidth = DimOf(params.tensors[kBlockTables], 1);
    dims->freeCapacity = DimOf(params.tensors[kFreeList], 0);
    dims->inputWidth = DimOf(params.tensors[kInputIds], 1);
    dims->preWidth = DimOf(params.tensors[kPreIds], 1);
    for (size_t index = 0; index < kStepTensors; ++index) {
        ADVSTEP_RETURN_IF_ERROR(CheckTensor(params.tensors[index], kStepSignature[index], *dims));
    }
    // Slots and blocks are counted in int32 by the tensors themselves.
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (dims->batch < 0 || dims->batch > dims->slots || dims->slots > kMost) {
        return Error(kTilingError,
                     "seqLensThisTime has B = {} rows and stopFlags S = {}; expected 0 <= B <= S "
                     "<= {}",
                     dims->batch, dims->slots, kMost);
    }
    if (dims->freeCapacity > kMost || dims->tableWidth > kMost) {
        return Error(kTilingError,
                     "freeList has F = {} entries and blockTables W = {} columns; expected at most "
                     "{} of each",
                     dims->freeCapacity, dims->tableWidth, kMost);
    }
    return {};
}

}  // namespace

Status CheckStep(const StepParams& params, StepDims* dims) {
    for (size_t index = 0; index < kStepTensors; ++index) {
        const TensorView& view = params.tensors[index];
        const StepTensor& tensor = kStepSignature[index];
        ADVSTEP_RETURN_IF_ERROR(CheckDataType(view, tensor.name, {tensor.dataType}));
        ADVSTEP_RETURN_IF_ERROR(CheckFormat(view, tensor.name));
        ADVSTEP_RETURN_IF_ERROR(CheckContiguous(view, tensor.name));
    }
    if (params.blockSize < 1) {
        return Error(kTilingError, "blockSize is {}; expected at least 1", params.blockSize);
    }
    return CheckShapes(params, dims);
}

}  // namespace advstep
