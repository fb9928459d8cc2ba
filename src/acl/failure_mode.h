// SPDX-License-Identifier: Apache-2.0
// The check and the setting of a failure mode, shared by the calls that set one.

#pragma once

#include <cstdint>

#include "acl/rt/types.h"
#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// Sets the failure mode of the stream's context. `argument` is the name of `mode` in the call.
/// 107000: `mode` is not a failure mode, or the stream's mode was set before.
inline Status SetFailureMode(const StreamRef& stream, const char* argument, uint64_t mode) {
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}; expected ACL_CONTINUE_ON_FAILURE = 0 or ACL_STOP_ON_FAILURE = 1",
                     argument, mode);
    }
    return stream.SetStopOnFailure(mode == ACL_STOP_ON_FAILURE);
}

}  // namespace advstep
