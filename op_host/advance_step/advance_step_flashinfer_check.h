// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of AdvanceStepFlashInfer.

#pragma once

#include "op_host/advance_step/advance_step_flashinfer_params.h"
#include "src/base/status.h"

namespace advstep {

/// The first rule that the arguments break, in the order of CheckAdvanceStep. The rules are those
/// of conformance vllm, whatever the conformance of the device is.
Status CheckAdvanceStepFlashInfer(const AdvanceStepParams& params);

}  // namespace advstep
