#pragma once

#include "op_host/advance_step/advance_step_v2_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {

/// Cuts checked arguments over the cores by rows, wherever that cuts the rows of a query: a few
/// queries with many spec tokens use all cores too. Pure.
AdvanceStepV2Tiling TileAdvanceStepV2(const AdvanceStepParams& params,
                                      const OperatorEnvironment& environment);

}  // namespace advstep
