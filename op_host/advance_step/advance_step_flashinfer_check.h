#pragma once

#include "op_host/advance_step/advance_step_flashinfer_params.h"
#include "src/base/status.h"

namespace advstep {

/// The first rule that the arguments break, in the order of CheckAdvanceStep; the rules are those
/// of conformance vllm, whatever the device's.
Status CheckAdvanceStepFlashInfer(const AdvanceStepFlashInferParams& params);

}  // namespace advstep
