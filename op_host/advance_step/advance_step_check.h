// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of AdvanceStep.

#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_host/common/error_codes.h"

namespace advstep {

/// Reports the first rule that the arguments break, in this order: dtype, format and layout of
/// every tensor (161002); attributes, then shapes (561002). Conformance exact takes the shapes that
/// a real device takes. Addresses are not checked.
op::Status CheckAdvanceStep(const AdvanceStepParams& params,
                            const OperatorEnvironment& environment);

// Parts of the check, for the operators that share them.

/// Conformance vllm takes int32 lengths and slots.
inline bool TakesNarrowTensors(Conformance conformance) {
    return conformance == Conformance::kVllm;
}

/// Checks numSeqs, numQueries and blockSize.
op::Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, Conformance conformance);

op::Status CheckNumSeqs(int64_t numSeqs);
op::Status CheckBlockSize(int64_t blockSize);

}  // namespace advstep
