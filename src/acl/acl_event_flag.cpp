// SPDX-License-Identifier: Apache-2.0
// Records and waits with a flag: a captured model can make them for streams outside the model.
#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

Status CheckFlag(uint32_t flag) {
    return flag <= ACL_EVENT_RECORD_EXTERNAL
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM, "flag is {}; expected DEFAULT 0 or EXTERNAL 1",
                       flag);
}

Status FindBoth(aclrtEvent event, aclrtStream stream, Event** found, StreamRef* target) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, target));
    return FindEvent(event, found);
}

}  // namespace

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
    return AclBoundary("aclrtRecordEventWithFlag", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckFlag(flag));
        Event* found = nullptr;
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
        return flag == ACL_EVENT_RECORD_EXTERNAL ? found->RecordInModel(ToHandle(event), target)
                                                 : found->Record(ToHandle(event), target);
    });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag) {
    return AclBoundary("aclrtStreamWaitEventWithFlag", [&]() -> Status {
        constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
        ADVSTEP_RETURN_IF_ERROR(CheckFlag(flag));
        if (flag == ACL_EVENT_WAIT_EXTERNAL && timeout != 0) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "timeout is {} with flag EXTERNAL; expected 0, for ever", timeout);
        }
        Event* found = nullptr;
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindBoth(event, stream, &found, &target));
        return flag == ACL_EVENT_WAIT_EXTERNAL
                   ? found->WaitInModel(ToHandle(event), target)
                   : found->WaitOn(ToHandle(event), target, timeout * kNanosecondsPerSecond);
    });
}
