// The look at 64 slots at a time: what most slots of most steps need, without a branch a slot.
#pragma once

#include <cstdint>

#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// Reads 64 slots from `first`. False: something is unusual (bad data, or columns that do not
/// matter in the state the slot is in); look at the slots one by one.
///
///   *lacking  slots with tokens to feed whose next block is -1
///   *used     sum of usedListLen
bool ScanWord(const StepTiling& tiling, const StepArgs& args, int64_t first, uint64_t* lacking,
              int64_t* used);

}  // namespace advstep
