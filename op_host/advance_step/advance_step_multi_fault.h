#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepMulti kernels (AdvanceStepFault) with its step, query,
/// values and expectation.
FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload);

}  // namespace advstep
