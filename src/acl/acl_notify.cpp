// SPDX-License-Identifier: Apache-2.0
// Notifies, and words that streams write and wait for.
#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/commands/stream_value.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
    return AclBoundary("aclrtCreateNotify", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "flag is {:#x}; expected ACL_NOTIFY_DEFAULT 0 or "
                         "ACL_NOTIFY_DEVICE_USE_ONLY 1",
                         flag);
        }
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(TheNotifyTable().Create(current.handle, current.device, &made));
        *notify = ToPointer(made);
        return NoteIfMade({}, ObjectKind::kNotify, "aclrtCreateNotify", notify);
    });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
    return AclBoundary("aclrtDestroyNotify", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        return Freeing(ObjectKind::kNotify, notify,
                       [&] { return TheNotifyTable().Destroy(notify); });
    });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
    return AclBoundary("aclrtRecordNotify", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return TheNotifyTable().Record(notify, found);
    });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
    return AclBoundary("aclrtWaitAndResetNotify", [&]() -> Status {
        constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return TheNotifyTable().Wait(notify, found, timeout * kNanosecondsPerSecond);
    });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
    return AclBoundary("aclrtGetNotifyId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notifyId, "notifyId"));
        ADVSTEP_RETURN_IF_ERROR(TheNotifyTable().CheckAlive(notify));
        *notifyId = IndexOf(ToHandle(notify));
        return {};
    });
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    return AclBoundary("aclrtValueWrite", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devAddr, "devAddr"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return EnqueueValueWrite(found, devAddr, value, flag);
    });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    return AclBoundary("aclrtValueWait", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devAddr, "devAddr"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return EnqueueValueWait(found, devAddr, value, flag);
    });
}
