// SPDX-License-Identifier: Apache-2.0
// The rules for the arguments of AdvanceStepV2.

#pragma once

#include "op_host/advance_step/advance_step_v2_params.h"
#include "op_host/common/environment.h"
#include "op_host/common/error_codes.h"

namespace advstep {

/// Reports the first rule that the arguments break, in the order of CheckAdvanceStep, except that
/// the shape of specToken comes before the other shapes. The rules are the same in every
/// conformance, with one exception: exact takes only the shapes that a real device takes and, after
/// the check of the attributes, refuses a blockSize whose low 32 bits are 0 or negative (161002).
op::Status CheckAdvanceStepV2(const AdvanceStepParams& params, Conformance conformance);

}  // namespace advstep
