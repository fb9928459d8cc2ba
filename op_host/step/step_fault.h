#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the Step kernels (StepFault): slot, values, expectation. No progress is
/// ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, everything else ACL_ERROR_RT_VECTOR_CORE_EXCEPTION.
FaultReport DescribeStepFault(const Fault& fault, const void* payload);

}  // namespace advstep
