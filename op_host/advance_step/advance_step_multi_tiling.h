// SPDX-License-Identifier: Apache-2.0
// The tiling of AdvanceStepMulti: rows per core and per tile.

#pragma once

#include "op_host/advance_step/advance_step_multi_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_multi_tiling_data.h"

namespace advstep {

/// Distributes the rows of checked arguments over the cores as TileAdvanceStep does. A pure
/// function.
AdvanceStepMultiTiling TileAdvanceStepMulti(const AdvanceStepParams& params,
                                            const OperatorEnvironment& environment);

}  // namespace advstep
