// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of AdvanceStepMulti.

#include "op_host/advance_step/advance_step_multi_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/tensor_check.h"

namespace advstep {

op::Status CheckAdvanceStepMulti(const AdvanceStepParams& params,
                                 const OperatorEnvironment& environment) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepMultiSignature>(
        params.tensors, TakesNarrowTensors(environment.conformance)));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    auto dims = DimsOf<AdvanceStepMultiDim>(params);
    dims[AdvanceStepMultiDim::kAnySteps] = kAtLeastOne;
    // This dim is for slotMapping. It is read from sampledTokenIds, whose shape is checked first.
    dims[AdvanceStepMultiDim::kSteps] =
        DimOrZero(params.tensors[AdvanceStepTensor::kSampledTokenIds], 0);
    return CheckShapes<kAdvanceStepMultiSignature>(params.tensors, dims);
}

}  // namespace advstep
