// SPDX-License-Identifier: Apache-2.0
// Messages for the data faults that the AdvanceStep kernels report.

#pragma once

#include <string>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStep kernels (AdvanceStepFault) with its query, values and
/// expectation.
FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload);

/// Returns the words of that report, for `row` of the batch, after a prefix: "step 2, query 3:
/// ...".
std::string AdvanceStepFaultWords(const std::string& prefix, int64_t row, const Fault& fault,
                                  const AdvanceStepTiling& tiling);

/// Returns the words for a fault of a token's place, or "" for another kind of fault. `who` names
/// the row: "query 3".
std::string PlaceFaultWords(const std::string& who, const Fault& fault, int64_t blockSize,
                            int64_t maxBlocks);

}  // namespace advstep
