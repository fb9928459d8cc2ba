#pragma once

#include "op_host/advance_step/advance_step_params.h"

namespace advstep {

/// The arguments of one aclnnAdvanceStepFlashInferGetWorkspaceSize call, in the header's spelling.
struct AdvanceStepFlashInferParams {
    AdvanceStepParams common;
    TensorView pagedKvIndices;
    TensorView pagedKvIndptr;
    TensorView pagedKvLastPageLen;
    TensorView blockTableBound;
};

}  // namespace advstep
