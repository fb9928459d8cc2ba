#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the AdvanceStepMulti kernels (AdvanceStepFault): step, query, values,
/// expectation.
FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload);

}  // namespace advstep
