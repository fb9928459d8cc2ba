#pragma once

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Words a fault of the AdvanceStepFlashInfer kernels (AdvanceStepFault): query, values,
/// expectation.
FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload);

}  // namespace advstep
