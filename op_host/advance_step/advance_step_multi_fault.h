// SPDX-License-Identifier: Apache-2.0
// Messages for the data faults that the AdvanceStepMulti kernels report.

#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepMulti kernels (AdvanceStepFault) with its step, query,
/// values and expectation.
FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload);

}  // namespace advstep
