#pragma once

#include "op_host/common/environment.h"
#include "op_host/step/step_params.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// Cuts the slots over the cores: consecutive ones, as even as can be, no idle core; none for an
/// empty batch. Pure.
StepTiling TileStep(const StepDims& dims, int64_t blockSize,
                    const OperatorEnvironment& environment);

}  // namespace advstep
