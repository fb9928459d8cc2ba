#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Describes a fault of the AdvanceStepFlashInfer kernels (AdvanceStepFault) with its query, values
/// and expectation.
FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload);

}  // namespace advstep
