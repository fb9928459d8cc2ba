// SPDX-License-Identifier: Apache-2.0
// Looks at 64 slots at a time without a branch for each, which is enough for most slots of most
// steps.

#pragma once

#include <cstdint>

#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// Reads 64 slots from `first` on. Returns false if one of them is unusual (bad data, or columns
/// that do not matter in the state of the slot); the caller then looks at the slots one by one.
///
///   *lacking  slots with tokens to feed whose next block is -1
///   *used     sum of usedListLen
bool ScanWord(const StepTiling& tiling, const StepArgs& args, int64_t first, uint64_t* lacking,
              int64_t* used);

}  // namespace advstep
