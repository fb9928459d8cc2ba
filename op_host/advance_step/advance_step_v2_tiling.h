// SPDX-License-Identifier: Apache-2.0
// The tiling of AdvanceStepV2: rows per core and per tile.

#pragma once

#include "op_host/advance_step/advance_step_v2_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {

/// Distributes the rows of checked arguments over the cores. The rows of a query may be divided
/// among cores, so that a few queries with many spec tokens use all cores. A pure function.
AdvanceStepV2Tiling TileAdvanceStepV2(const AdvanceStepParams& params,
                                      const OperatorEnvironment& environment);

}  // namespace advstep
