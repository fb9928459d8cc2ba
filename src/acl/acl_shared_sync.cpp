// SPDX-License-Identifier: Apache-2.0
// Events and notifies between processes.

#include <cstring>
#include <memory>
#include <utility>

#include "acl/acl_rt.h"
#include "src/acl/share_keys.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

constexpr uint64_t kMostNotifyImportFlags = 3;

static_assert(sizeof(aclrtIpcEventHandle) + 1 == kKeyRoom, "a key fits without its NUL");

Status CheckCount(size_t num) {
    return num > 0 ? Status() : Error(ACL_ERROR_RT_PARAM_INVALID, "num is 0; expected at least 1");
}

}  // namespace

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
    return AclBoundary("aclrtIpcGetEventHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        Event* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindEvent(event, &found));
        ShareKey key;
        ADVSTEP_RETURN_IF_ERROR(found->Export(ToHandle(event), &key));
        char text[kKeyRoom];
        WriteShareKey(ShareKind::kEvent, key, text);
        std::memcpy(handle->reserved, text, sizeof(handle->reserved));
        return {};
    });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
    return AclBoundary("aclrtIpcOpenEventHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(event, "event"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        char text[kKeyRoom] = {};
        std::memcpy(text, handle.reserved, sizeof(handle.reserved));
        ShareKey key;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kEvent, text, "handle", &key));
        std::unique_ptr<EventBoard> board;
        ADVSTEP_RETURN_IF_ERROR(EventBoard::Import(key, &board));
        Event::Traits traits;
        traits.kind = EventKind::kCreateExWithFlag;
        traits.timing = false;
        traits.context = current.handle;
        traits.device = current.device;
        traits.shared = true;
        const auto entry = TheEvents().Acquire();
        entry.object->Open(entry.handle, traits, std::move(board));
        *event = ToPointer(entry.handle);
        return NoteIfMade({}, ObjectKind::kEvent, "aclrtIpcOpenEventHandle", event);
    });
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
    return AclBoundary("aclrtNotifyGetExportKey", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ADVSTEP_RETURN_IF_ERROR(CheckKeyRoom(len));
        ADVSTEP_RETURN_IF_ERROR(
            CheckShareFlags(flags, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        ShareKey made;
        ADVSTEP_RETURN_IF_ERROR(TheNotifyTable().Export(notify, flags != 0, &made));
        WriteShareKey(ShareKind::kNotify, made, key);
        return {};
    });
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
    return AclBoundary("aclrtNotifyImportByKey", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        if (flags > kMostNotifyImportFlags) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "flags is {:#x}; expected at most {}", flags,
                         kMostNotifyImportFlags);
        }
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ShareKey wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kNotify, key, "key", &wanted));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(TheNotifyTable().Import(current.handle, wanted, &made));
        *notify = ToPointer(made);
        return NoteIfMade({}, ObjectKind::kNotify, "aclrtNotifyImportByKey", notify);
    });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
    return AclBoundary("aclrtNotifySetImportPid", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notify, "notify"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pid, "pid"));
        ADVSTEP_RETURN_IF_ERROR(CheckProcessCount(num));
        return TheNotifyTable().Allow(notify, pid, num);
    });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
    return AclBoundary("aclrtNotifyBatchReset", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(notifies, "notifies"));
        ADVSTEP_RETURN_IF_ERROR(CheckCount(num));
        for (size_t i = 0; i < num; ++i) {
            if (notifies[i] == nullptr) {
                return Error(ACL_ERROR_INVALID_PARAM, "notifies[{}] is null; expected a notify", i);
            }
        }
        return TheNotifyTable().Reset(notifies, num);
    });
}
