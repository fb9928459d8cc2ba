// SPDX-License-Identifier: Apache-2.0
// Resource-limit calls of devices, streams and the calling thread.

#include "acl/rt/resource_limit.h"

#include "src/base/boundary.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    return AclBoundary("aclrtSetDeviceResLimit", [&]() -> Status {
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        ADVSTEP_RETURN_IF_ERROR(CheckLimit(*device, type, value));
        device->limits().Set(type, value);
        return {};
    });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
    return AclBoundary("aclrtGetDeviceResLimit", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        ADVSTEP_RETURN_IF_ERROR(CheckLimitType(type));
        *value = CoresOf(*device, type);
        return {};
    });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    return AclBoundary("aclrtResetDeviceResLimit", [&]() -> Status {
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        device->limits().Clear();
        return {};
    });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
    return AclBoundary("aclrtSetStreamResLimit", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return SetStreamLimit(found, type, value);
    });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
    return AclBoundary("aclrtGetStreamResLimit", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return CoresOf(found, type, value);
    });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
    return AclBoundary("aclrtResetStreamResLimit", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return ResetStreamLimits(found);
    });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
    return AclBoundary("aclrtUseStreamResInCurrentThread", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return UseStreamLimits(found);
    });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
    return AclBoundary("aclrtUnuseStreamResInCurrentThread", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return UnuseStreamLimits(found);
    });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
    return AclBoundary("aclrtGetResInCurrentThread", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        ADVSTEP_RETURN_IF_ERROR(CheckLimitType(type));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        *value = CoresInEffect(*current.device, type);
        return {};
    });
}
