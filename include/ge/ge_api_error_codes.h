// SPDX-License-Identifier: Apache-2.0
/// Codes of sessions. Programs may #define SUCCESS and FAILED themselves, before or after they
/// include this header.
#ifndef ADVSTEP_GE_GE_API_ERROR_CODES_H_
#define ADVSTEP_GE_GE_API_ERROR_CODES_H_

#include <cstdint>

#include "../graph/error_codes.h"

#pragma push_macro("SUCCESS")
#pragma push_macro("FAILED")
#undef SUCCESS
#undef FAILED

namespace ge {

using Status = uint32_t;

const Status SUCCESS = 0;
const Status FAILED = 0xFFFFFFFF;

}  // namespace ge

#pragma pop_macro("SUCCESS")
#pragma pop_macro("FAILED")

#endif  // ADVSTEP_GE_GE_API_ERROR_CODES_H_
