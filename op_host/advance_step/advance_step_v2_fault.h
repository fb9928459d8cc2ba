#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepV2 kernels (AdvanceStepFault) with its query, row, values
/// and expectation.
FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload);

}  // namespace advstep
