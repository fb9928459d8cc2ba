#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the AdvanceStep kernels (AdvanceStepFault): query, values, expectation.
FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload);

}  // namespace advstep
