// SPDX-License-Identifier: Apache-2.0
// Messages for the data faults that the AdvanceStepV2 kernels report.

#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepV2 kernels (AdvanceStepFault) with its query, row, values
/// and expectation.
FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload);

}  // namespace advstep
