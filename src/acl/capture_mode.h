// SPDX-License-Identifier: Apache-2.0
// The check of a capture mode.

#pragma once

#include "acl/acl_rt.h"
#include "src/base/status.h"

namespace advstep {

/// 107000: `mode` is none of aclmdlRICaptureMode.
inline Status CheckCaptureMode(aclmdlRICaptureMode mode, const char* argument) {
    const auto number = static_cast<int>(mode);
    return number >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && number <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "{} is {}; expected ACL_MODEL_RI_CAPTURE_MODE_GLOBAL 0, THREAD_LOCAL 1 or "
                       "RELAXED 2",
                       argument, number);
}

}  // namespace advstep
