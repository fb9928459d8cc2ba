// SPDX-License-Identifier: Apache-2.0
// Makes the limits of waits, and the errors of waits that expire.

#include "src/runtime/task/ticket.h"

#include "acl/acl_base.h"

namespace advstep {

Status MakeWaitLimit(int32_t milliseconds, int32_t expiredCode, WaitLimit* limit) {
    if (milliseconds == 0 || milliseconds < -1) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "timeout is {}; expected at least 1 ms, or -1 for ever", milliseconds);
    }
    limit->timed = true;
    limit->milliseconds = milliseconds;
    limit->expiredCode = expiredCode;
    if (milliseconds > 0) {
        limit->until = WaitClock::now() + std::chrono::milliseconds(milliseconds);
    }
    return {};
}

Status ExpiredError(const WaitLimit& limit) {
    constexpr const char* kExpected = "expected it to complete before";
    return limit.whose != nullptr
               ? Error(limit.expiredCode, "{} {} is not complete after the timeout of {} ms; {}",
                       limit.what, limit.whose, limit.milliseconds, kExpected)
               : Error(limit.expiredCode, "{} is not complete after the timeout of {} ms; {}",
                       limit.what, limit.milliseconds, kExpected);
}

}  // namespace advstep
