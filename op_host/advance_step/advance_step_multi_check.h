// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of AdvanceStepMulti.

#pragma once

#include "op_host/advance_step/advance_step_multi_params.h"
#include "op_host/common/environment.h"
#include "op_host/common/error_codes.h"

namespace advstep {

/// As CheckAdvanceStep, for tensors of several steps: sampledTokenIds and slotMapping have a row
/// for each step.
op::Status CheckAdvanceStepMulti(const AdvanceStepParams& params,
                                 const OperatorEnvironment& environment);

}  // namespace advstep
