#include "op_host/step/step_check.h"

#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {

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
    return InferStepDims(params, dims);
}

}  // namespace advstep
