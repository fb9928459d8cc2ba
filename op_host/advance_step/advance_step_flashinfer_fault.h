// SPDX-License-Identifier: Apache-2.0
// Messages for the data faults that the AdvanceStepFlashInfer kernels report.

#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepFlashInfer kernels (AdvanceStepFault) with its query, values
/// and expectation.
FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload);

}  // namespace advstep
