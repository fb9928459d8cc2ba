// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of AdvanceStepFlashInfer.

#pragma once

#include "op_host/advance_step/advance_step_flashinfer_params.h"
#include "op_host/common/error_codes.h"

namespace advstep {

/// Reports the first rule that the arguments break, in the order of CheckAdvanceStep. The rules are
/// those of conformance vllm, whatever the conformance of the device is.
op::Status CheckAdvanceStepFlashInfer(const AdvanceStepParams& params);

}  // namespace advstep
