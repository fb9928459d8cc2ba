#pragma once

#include "op_host/step/step_params.h"
#include "src/base/status.h"

namespace advstep {

/// B, S, W, F, L and P of a call.
struct StepDims {
    int64_t batch = 0;
    int64_t slots = 0;
    int64_t tableWidth = 0;
    int64_t freeCapacity = 0;
    int64_t inputWidth = 0;
    int64_t preWidth = 0;
};

/// Reads the dims off the tensors that set them and holds every tensor's shape against them: 561002
/// for the first, in signature order, that differs.
Status InferStepDims(const StepParams& params, StepDims* dims);

}  // namespace advstep
