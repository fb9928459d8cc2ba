// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of AdvanceStepV2.

#include "op_host/advance_step/advance_step_v2_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

Status CheckV2Shapes(const AdvanceStepParams& params) {
    constexpr size_t kSpecToken = AdvanceStepV2Tensor::kSpecToken;
    const TensorView& specToken = params.tensors[kSpecToken];
    auto dims = DimsOf<AdvanceStepV2Dim>(params);
    dims[AdvanceStepV2Dim::kSpecTokens] = kAtLeastOne;
    // Its second dim says what the other shapes must be.
    ADVSTEP_RETURN_IF_ERROR(
        CheckShape(specToken, kAdvanceStepV2Signature[kSpecToken], dims.data()));
    dims[AdvanceStepV2Dim::kPerQuery] = specToken.dims[1] + 1;
    dims[AdvanceStepV2Dim::kRows] = params.numSeqs * dims[AdvanceStepV2Dim::kPerQuery];
    return CheckShapes<kAdvanceStepV2Signature>(params.tensors, dims);
}

}  // namespace

Status CheckAdvanceStepV2(const AdvanceStepParams& params) {
    ADVSTEP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepV2Signature>(params.tensors));
    ADVSTEP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    if (params.numQueries != params.numSeqs) {
        return Error(kTilingError, "numQueries is {}; expected numSeqs = {} with spec tokens",
                     params.numQueries, params.numSeqs);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckBlockSize(params.blockSize));
    return CheckV2Shapes(params);
}

}  // namespace advstep
