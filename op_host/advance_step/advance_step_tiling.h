// SPDX-License-Identifier: Apache-2.0
// The tiling of AdvanceStep: rows per core and per tile.

#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

/// Distributes the rows of checked arguments over the cores: consecutive rows, as evenly as
/// possible, without an idle core, in tiles that fit the unified buffer. A pure function.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment);

/// As above, with the number of bytes that a row keeps in the unified buffer.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const OperatorEnvironment& environment, int64_t bytesPerRow);

/// Returns the elements from one row of a checked table to the next. It returns the number of
/// columns for a table of one row, whose stride has no meaning, and for a table of a rank other
/// than 2, which has no gaps.
int64_t RowStrideOf(const TensorView& table);

}  // namespace advstep
