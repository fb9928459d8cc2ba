// SPDX-License-Identifier: Apache-2.0
// Checks the layouts, attributes and shapes of AdvanceStep.

#include "op_host/advance_step/advance_step_check.h"

#include "op_host/advance_step/advance_step_device_shapes.h"
#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

constexpr int64_t kNumSeqsLimit = 200000000;  // numSeqs is below it

}  // namespace

op::Status CheckNumSeqs(int64_t numSeqs) {
    return numSeqs >= 1 && numSeqs < kNumSeqsLimit
               ? op::Status()
               : op::Error(kTilingError, "numSeqs is ", numSeqs, "; expected 1 <= numSeqs < ",
                           kNumSeqsLimit);
}

op::Status CheckBlockSize(int64_t blockSize) {
    return blockSize >= 1
               ? op::Status()
               : op::Error(kTilingError, "blockSize is ", blockSize, "; expected at least 1");
}

op::Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, Conformance conformance) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    const bool paddingNeeded = conformance != Conformance::kVllm;
    if (params.numQueries < 1 || params.numQueries > params.numSeqs ||
        (paddingNeeded && params.numQueries == params.numSeqs)) {
        return op::Error(kTilingError, "numQueries is ", params.numQueries,
                         "; expected 1 <= numQueries ",
                         paddingNeeded ? "<" : "<=", " numSeqs = ", params.numSeqs);
    }
    return CheckBlockSize(params.blockSize);
}

op::Status CheckAdvanceStep(const AdvanceStepParams& params,
                            const OperatorEnvironment& environment) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepSignature>(
        params.tensors, TakesNarrowTensors(environment.conformance)));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    if (environment.conformance == Conformance::kExact) {
        return CheckAdvanceStepDeviceShapes(params);
    }
    return CheckShapes<kAdvanceStepSignature>(params.tensors, DimsOf<AdvanceStepDim>(params));
}

}  // namespace advstep
