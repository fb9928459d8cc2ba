// SPDX-License-Identifier: Apache-2.0
// Device calls: set, reset, synchronise, and memory figures.

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/capture/capture_registry.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/wait_limit.h"

using namespace advstep;

namespace {

Status SynchronizeDevice(const WaitLimit& limit) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    ADVSTEP_RETURN_IF_ERROR(CaptureRegistry::Instance().CheckNoneOn(current.device));
    return SynchronizeStreamsOf(current.device, limit);
}

}  // namespace

aclError aclrtSetDevice(int32_t deviceId) {
    return AclBoundary("aclrtSetDevice", [&] { return DeviceRegistry::Instance().Set(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
    return AclBoundary("aclrtResetDevice",
                       [&] { return DeviceRegistry::Instance().Reset(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    return AclBoundary("aclrtResetDeviceForce",
                       [&] { return DeviceRegistry::Instance().Reset(deviceId, true); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
    return AclBoundary("aclrtGetDevice", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(deviceId, "deviceId"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        *deviceId = current.device->id();
        return {};
    });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    return AclBoundary("aclrtGetDeviceCount", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(count, "count"));
        return DeviceRegistry::Instance().CountBeforeStart(count);
    });
}

aclError aclrtSynchronizeDevice(void) {
    return AclBoundary("aclrtSynchronizeDevice", [] { return SynchronizeDevice(kNoLimit); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    return AclBoundary("aclrtSynchronizeDeviceWithTimeout", [&]() -> Status {
        WaitLimit limit{"the work of the device"};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        return SynchronizeDevice(limit);
    });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
    return AclBoundary("aclrtGetMemInfo", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(free, "free"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(total, "total"));
        const auto number = static_cast<int>(attr);
        if (number < ACL_DDR_MEM || number > ACL_MEM_P2P_HUGE1G) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "attr is {}; expected an aclrtMemAttr",
                         number);
        }
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const Device& device = *current.device;
        TheVirtualMemory().Reclaim();
        *free = TheDeviceMemory().FreeBytes(device);
        *total = device.settings().memoryBytes;
        return {};
    });
}
