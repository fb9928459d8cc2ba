#pragma once

#include <string>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the AdvanceStep kernels (AdvanceStepFault): query, values, expectation.
FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload);

/// Its words, with `row` of the batch and `prefix` in front: "step 2, query 3: ...".
std::string AdvanceStepFaultWords(const std::string& prefix, int64_t row, const Fault& fault,
                                  const AdvanceStepTiling& tiling);

/// Words for a fault of a token's place, if the kind is one that needs no more than this; else "".
/// `who` is the row: "query 3".
std::string PlaceFaultWords(const std::string& who, const Fault& fault, int64_t blockSize,
                            int64_t maxBlocks);

}  // namespace advstep
