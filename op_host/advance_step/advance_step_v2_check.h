#pragma once

#include "op_host/advance_step/advance_step_v2_params.h"
#include "src/base/status.h"

namespace advstep {

/// The first rule that the arguments break, in this order: dtype, format and layout (161002) of
/// every tensor; attributes, then shapes (561002). The same in every conformance.
Status CheckAdvanceStepV2(const AdvanceStepV2Params& params);

}  // namespace advstep
