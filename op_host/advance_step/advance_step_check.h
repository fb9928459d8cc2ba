#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_host/common/tensor_check.h"
#include "src/base/status.h"

namespace advstep {

/// The first rule that the arguments break, in this order: dtype, format and layout (161002) of
/// every tensor; attributes, then shapes (561002). Addresses are not looked at.
Status CheckAdvanceStep(const AdvanceStepParams& params, const OperatorEnvironment& environment);

// Parts of it, for the operators that share them.

/// dtype, format and layout of AdvanceStep's tensors.
Status CheckAdvanceStepLayouts(const AdvanceStepParams& params, Conformance conformance);

/// numSeqs, numQueries and blockSize.
Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, Conformance conformance);

/// Holds every tensor's shape against the one that the attributes imply: 561002 for the first, in
/// signature order, that differs. The attributes have been checked.
Status CheckAdvanceStepShapes(const AdvanceStepParams& params);

/// 561002 unless the shape is [numSeqs] or [numSeqs, 1].
inline Status CheckPerSequence(const TensorView& view, const char* name, int64_t numSeqs) {
    return CheckVector(view, name, "[numSeqs]", numSeqs);
}

Status CheckNumSeqs(int64_t numSeqs);
Status CheckBlockSize(int64_t blockSize);

}  // namespace advstep
