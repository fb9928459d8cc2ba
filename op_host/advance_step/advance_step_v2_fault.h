#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the AdvanceStepV2 kernels (AdvanceStepFault): query, row, values, expectation.
FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload);

}  // namespace advstep
