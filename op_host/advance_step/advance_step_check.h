#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
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

Status CheckNumSeqs(int64_t numSeqs);
Status CheckBlockSize(int64_t blockSize);

}  // namespace advstep
