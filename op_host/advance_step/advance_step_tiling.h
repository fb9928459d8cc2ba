#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

/// Cuts checked arguments over the cores: consecutive rows, as even as can be, no idle core, in
/// tiles that fit the unified buffer. Pure.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment);

/// The same with another number of bytes that a row keeps in the unified buffer.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment, int64_t bytesPerRow);

/// Elements from one row of a checked table to the next; a single row's stride has no meaning.
int64_t RowStrideOf(const TensorView& table);

}  // namespace advstep
