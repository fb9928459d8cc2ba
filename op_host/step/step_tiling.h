// SPDX-License-Identifier: Apache-2.0
// The tiling of Step: slots per core.

#pragma once

#include "op_host/common/environment.h"
#include "op_host/step/step_params.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// Distributes the slots over the cores: consecutive slots, as evenly as possible, without an idle
/// core. An empty batch has no core. A pure function.
StepTiling TileStep(const StepDims& dims, int64_t blockSize,
                    const OperatorEnvironment& environment);

}  // namespace advstep
