// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of Step.

#pragma once

#include "op_host/common/error_codes.h"
#include "op_host/step/step_params.h"

namespace advstep {

/// Reports the first rule that the arguments break: dtype, format and layout of every tensor
/// (161002), then blockSize and shapes (561002). *dims is set on success.
op::Status CheckStep(const StepParams& params, StepDims* dims);

}  // namespace advstep
