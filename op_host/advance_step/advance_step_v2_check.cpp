// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of AdvanceStepV2.

#include "op_host/advance_step/advance_step_v2_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/advance_step/advance_step_device_shapes.h"
#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

// A real device takes rows of queries only flat, which is the first shape of each tensor.
op::Status CheckFirstShapes(const TensorView* views, const int64_t* dims) {
    for (TensorArgument argument : kAdvanceStepV2Signature) {
        argument.shapes.second = {};
        ADVSTEP_OP_RETURN_IF_ERROR(CheckShape(*views++, argument, dims));
    }
    return {};
}

op::Status CheckV2Shapes(const AdvanceStepParams& params, Conformance conformance) {
    constexpr size_t kSpecToken = AdvanceStepV2Tensor::kSpecToken;
    const TensorView& specToken = params.tensors[kSpecToken];
    auto dims = DimsOf<AdvanceStepV2Dim>(params);
    dims[AdvanceStepV2Dim::kSpecTokens] = kAtLeastOne;
    // The shape of specToken is checked first, because its second dim sets the other shapes.
    ADVSTEP_OP_RETURN_IF_ERROR(
        CheckShape(specToken, kAdvanceStepV2Signature[kSpecToken], dims.data()));
    dims[AdvanceStepV2Dim::kPerQuery] = specToken.dims[1] + 1;
    dims[AdvanceStepV2Dim::kRows] = params.numSeqs * dims[AdvanceStepV2Dim::kPerQuery];
    return conformance == Conformance::kExact
               ? CheckFirstShapes(params.tensors, dims.data())
               : CheckShapes<kAdvanceStepV2Signature>(params.tensors, dims);
}

op::Status CheckDeviceBlockSize(int64_t blockSize) {
    const int64_t used = DeviceBlockSize(blockSize);
    return used >= 1 ? op::Status()
                     : op::Error(kParamInvalid, "blockSize is ", blockSize,
                                 ", of which a real device uses the low 32 bits, ", used,
                                 "; expected at least 1 there under conformance exact");
}

}  // namespace

op::Status CheckAdvanceStepV2(const AdvanceStepParams& params, Conformance conformance) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepV2Signature>(params.tensors));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    if (params.numQueries != params.numSeqs) {
        return op::Error(kTilingError, "numQueries is ", params.numQueries,
                         "; expected numSeqs = ", params.numSeqs, " with spec tokens");
    }
    ADVSTEP_OP_RETURN_IF_ERROR(CheckBlockSize(params.blockSize));
    if (conformance == Conformance::kExact) {
        ADVSTEP_OP_RETURN_IF_ERROR(CheckDeviceBlockSize(params.blockSize));
    }
    return CheckV2Shapes(params, conformance);
}

}  // namespace advstep
