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

Status CheckNumSeqs(int64_t numSeqs) {
    return numSeqs >= 1 && numSeqs < kNumSeqsLimit
               ? Status()
               : Error(kTilingError, "numSeqs is {}; expected 1 <= numSeqs < {}", numSeqs,
                       kNumSeqsLimit);
}

Status CheckBlockSize(int64_t blockSize) {
    return blockSize >= 1 ? Status()
                          : Error(kTilingError, "blockSize is {}; expected at least 1", blockSize);
}

Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, Conformance conformance) {
    ADVSTEP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    const bool paddingNeeded = conformance != Conformance::kVllm;
    if (params.numQueries < 1 || params.numQueries > params.numSeqs ||
        (paddingNeeded && params.numQueries == params.numSeqs)) {
        return Error(kTilingError, "numQueries is {}; expected 1 <= numQueries {} numSeqs = {}",
                     params.numQueries, paddingNeeded ? "<" : "<=", params.numSeqs);
    }
    return CheckBlockSize(params.blockSize);
}

Status CheckAdvanceStep(const AdvanceStepParams& params, const OperatorEnvironment& environment) {
    ADVSTEP_RETURN_IF_ERROR(CheckLayouts<kAdvanceStepSignature>(
        params.tensors, TakesNarrowTensors(environment.conformance)));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    if (environment.conformance == Conformance::kExact) {
        return CheckAdvanceStepDeviceShapes(params);
    }
    return CheckShapes<kAdvanceStepSignature>(params.tensors, DimsOf<AdvanceStepDim>(params));
}

}  // namespace advstep
