// Codes of aclnn that checks return; the header that names them is of a higher layer.
#pragma once

#include <cstdint>

namespace advstep {

inline constexpr int32_t kParamInvalid = 161002;  // ACLNN_ERR_PARAM_INVALID
inline constexpr int32_t kTilingError = 561002;   // ACLNN_ERR_INNER_TILING_ERROR

}  // namespace advstep
