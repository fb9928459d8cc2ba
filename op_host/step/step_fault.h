// SPDX-License-Identifier: Apache-2.0
// Messages for the data faults that the Step kernels report.

#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the Step kernels (StepFault) with its slot, values and expectation. The
/// code is ACL_ERROR_RT_RESOURCE_ALLOC_FAIL for no progress, and ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
/// for every other fault.
FaultReport DescribeStepFault(const Fault& fault, const void* payload);

}  // namespace advstep
