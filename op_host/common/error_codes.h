// SPDX-License-Identifier: Apache-2.0
// The outcome of a check, op::Status, and its codes.

#pragma once

#include "advance_step/operator/status.hpp"

namespace advstep {

namespace op = ::advance_step::op;

using advance_step::op::kParamInvalid;  // ACLNN_ERR_PARAM_INVALID
using advance_step::op::kTilingError;   // ACLNN_ERR_INNER_TILING_ERROR

}  // namespace advstep
