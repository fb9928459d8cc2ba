#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "src/base/status.h"

namespace advstep {

/// The first rule that the arguments break, in this order: dtype, format and layout (161002) of
/// every tensor; attributes, then shapes (561002). Addresses are not looked at.
Status CheckAdvanceStep(const AdvanceStepParams& params, const OperatorEnvironment& environment);

}  // namespace advstep
