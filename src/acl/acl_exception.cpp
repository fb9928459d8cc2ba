// SPDX-License-Identifier: Apache-2.0
// Exception calls: the callback for failed tasks and the fields of its argument.

#include "acl/rt/exception.h"

#include "src/base/boundary.h"
#include "src/runtime/stream/stream_callbacks.h"

using namespace advstep;

namespace {

constexpr uint32_t kNoInfo = 0xFFFFFFFF;

uint32_t Read(const aclrtExceptionInfo* info, uint32_t rtExceptionInfo::*member) {
    return info != nullptr ? info->*member : kNoInfo;
}

Status RequireCallback(aclrtExceptionInfoCallback callback) {
    return RequireNotNull(reinterpret_cast<const void*>(callback), "callback");
}

}  // namespace

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
    return AclBoundary("aclrtSetExceptionInfoCallback", [&] {
        SetExceptionCallback(callback);
        return Status();
    });
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
    return AclBoundary("aclrtExceptionInfoCallbackRegister", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireCallback(callback));
        return AddExceptionCallback(callback);
    });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
    return AclBoundary("aclrtExceptionInfoCallbackUnregister", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireCallback(callback));
        return RemoveExceptionCallback(callback);
    });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return Read(info, &rtExceptionInfo::taskId);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return Read(info, &rtExceptionInfo::streamId);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return Read(info, &rtExceptionInfo::threadId);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
    return Read(info, &rtExceptionInfo::deviceId);
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
    return Read(info, &rtExceptionInfo::errorCode);
}
