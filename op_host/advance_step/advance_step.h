// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStep: check, tiling, plan and words of faults.

#pragma once

#include "op_host/advance_step/advance_step_family.h"

namespace advstep {

/// Reports the first rule that the arguments break, in this order: dtype, format and layout of
/// every tensor (161002); attributes, then shapes (561002). Conformance exact takes the shapes that
/// a real device takes. Addresses are not checked.
op::Status CheckAdvanceStep(const AdvanceStepParams& params, const op::Environment& environment);

/// Returns 561002 unless dim 0 of every tensor is the documented one and sampledTokenIds is
/// [numQueries, 1]. The device looks at no other dim, and at no rank. A tensor without elements is
/// refused here, because the kernel would have nothing to write.
op::Status CheckAdvanceStepDeviceShapes(const AdvanceStepParams& params);

/// Makes AdvanceStep's plan: checks, tiles, and finds the program.
op::Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                           const op::Environment& environment,
                           op::Planned<AdvanceStepPayload>* plan);

/// Describes a fault of the AdvanceStep kernels (AdvanceStepFault) with its query, values and
/// expectation.
FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload);

}  // namespace advstep
