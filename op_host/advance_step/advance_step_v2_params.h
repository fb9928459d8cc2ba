#pragma once

#include "op_host/advance_step/advance_step_params.h"

namespace advstep {

/// The arguments of one aclnnAdvanceStepV2GetWorkspaceSize call with spec tokens.
struct AdvanceStepV2Params {
    AdvanceStepParams common;
    TensorView specToken;
    TensorView acceptedNum;
};

}  // namespace advstep
