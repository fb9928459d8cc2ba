// SPDX-License-Identifier: Apache-2.0
// Context calls: create, destroy, make current.

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    return AclBoundary("aclrtCreateContext", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(context, "context"));
        ContextRef made;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().MakeContext(deviceId, &made));
        SetCurrentContext(made);
        *context = ToPointer(made.handle);
        return NoteIfMade({}, ObjectKind::kContext, "aclrtCreateContext", context);
    });
}

aclError aclrtDestroyContext(aclrtContext context) {
    return AclBoundary("aclrtDestroyContext", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(context, "context"));
        ContextRef found;
        if (!FindContext(context, &found).ok() || found.primary) {
            return Error(ACL_ERROR_RT_CONTEXT_NULL,
                         "context {} is {}; expected a live context of aclrtCreateContext", context,
                         found.primary ? "a device's primary context" : "no context");
        }
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        DestroyAnnouncement announcement;
        announcement.AddAllOf(found.context);
        ADVSTEP_RETURN_IF_ERROR(
            Freeing(ObjectKind::kContext, context, [&] { return DestroyContext(found); }));
        ForgetCurrentContext(found.handle);
        return {};
    });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    return AclBoundary("aclrtSetCurrentContext", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(context, "context"));
        ContextRef found;
        if (!FindContext(context, &found).ok()) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "context {} is no context or has been destroyed; expected a live context",
                         context);
        }
        SetCurrentContext(found);
        return {};
    });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
    return AclBoundary("aclrtCtxGetCurrentDefaultStream", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        *stream = ToPointer(current.defaultStreamHandle);
        return {};
    });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    return AclBoundary("aclrtGetCurrentContext", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(context, "context"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        *context = ToPointer(current.handle);
        return {};
    });
}
