// SPDX-License-Identifier: Apache-2.0
// The codes that checks return.

#pragma once

#include "advance_step/operator/status.hpp"

namespace advstep {

using advance_step::op::kParamInvalid;  // ACLNN_ERR_PARAM_INVALID
using advance_step::op::kTilingError;   // ACLNN_ERR_INNER_TILING_ERROR

}  // namespace advstep
