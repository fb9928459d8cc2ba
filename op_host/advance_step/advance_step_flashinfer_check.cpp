// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of AdvanceStepFlashInfer.

#include "op_host/advance_step/advance_step_flashinfer_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/tensor_check.h"

namespace advstep {

op::Status CheckAdvanceStepFlashInfer(const AdvanceStepParams& params) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepFlashInferSignature>(params.tensors));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, Conformance::kVllm));
    auto dims = DimsOf<AdvanceStepFlashInferDim>(params);
    dims[AdvanceStepFlashInferDim::kCapacity] = kAtLeastZero;
    dims[AdvanceStepFlashInferDim::kPlaces] = params.numSeqs + 1;
    return CheckShapes<kAdvanceStepFlashInferSignature>(params.tensors, dims);
}

}  // namespace advstep
