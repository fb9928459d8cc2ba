// SPDX-License-Identifier: Apache-2.0
// Checks return these codes; op_host/common may not include acl_meta.h, which names them.

#pragma once

#include <cstdint>

namespace advstep {

inline constexpr int32_t kParamInvalid = 161002;  // ACLNN_ERR_PARAM_INVALID
inline constexpr int32_t kTilingError = 561002;   // ACLNN_ERR_INNER_TILING_ERROR

}  // namespace advstep
