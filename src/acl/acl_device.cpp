// SPDX-License-Identifier: Apache-2.0
// Devices: set, reset, synchronise, properties, memory figures, and access to peers.

#include "acl/acl_rt.h"
#include "src/acl/find_device.h"
#include "src/base/boundary.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/stream/sync_findings.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

Status SynchronizeDevice(const WaitLimit& limit) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    ADVSTEP_RETURN_IF_ERROR(ToldInCapture(TheCaptureRegistry().CheckNoneOn(current.device)));
    return SynchronizeStreamsOf(current.device, limit);
}

Status ReadAttribute(const Device& device, aclrtDevAttr attr, int64_t* value) {
    const Settings& settings = device.settings();
    switch (static_cast<int>(attr)) {
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM:  // every AI core has one cube core
            *value = settings.soc.aiCores;
            return {};
        case ACL_DEV_ATTR_VECTOR_CORE_NUM:
            *value = settings.soc.vectorCores;
            return {};
        case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
            *value = settings.soc.unifiedBufferBytes;
            return {};
        case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
            *value = static_cast<int64_t>(settings.memoryBytes);
            return {};
        case ACL_DEV_ATTR_L2_CACHE_SIZE:
            *value = settings.soc.l2CacheBytes;
            return {};
        case ACL_DEV_ATTR_PHY_CHIP_ID:
        case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
            *value = device.id();
            return {};
        case ACL_DEV_ATTR_SMP_ID:
        case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
        case ACL_DEV_ATTR_SUPER_POD_ID:
        case ACL_DEV_ATTR_IS_VIRTUAL:
            *value = 0;
            return {};
        default:
            return Error(ACL_ERROR_RT_PARAM_INVALID, "attr is {}; expected an aclrtDevAttr",
                         static_cast<int>(attr));
    }
}

// As DeviceRegistry::Find, with the name of the argument in the message.
Status FindPeer(int32_t peerDeviceId, const Device** peer) {
    uint32_t count = 0;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Count(&count));
    if (peerDeviceId < 0 || static_cast<uint32_t>(peerDeviceId) >= count) {
        return Error(ACL_ERROR_RT_INVALID_DEVICEID,
                     "peerDeviceId is {}; expected 0 <= peerDeviceId < device count = {}",
                     peerDeviceId, count);
    }
    return TheDeviceRegistry().Find(peerDeviceId, peer);
}

Status FindPair(int32_t peerDeviceId, ContextRef* current, const Device** peer) {
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(current));
    return FindPeer(peerDeviceId, peer);
}

}  // namespace

aclError aclrtSetDevice(int32_t deviceId) {
    return AclBoundary("aclrtSetDevice", [&] { return TheDeviceRegistry().Set(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
    return AclBoundary("aclrtResetDevice",
                       [&] { return TheDeviceRegistry().Reset(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    return AclBoundary("aclrtResetDeviceForce",
                       [&] { return TheDeviceRegistry().Reset(deviceId, true); });
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
        return TheDeviceRegistry().CountBeforeStart(count);
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
        (void)NarrowHeldMemory();  // an allocation gets it, too
        *free = TheDeviceMemory().FreeBytes(device);
        *total = device.settings().memoryBytes;
        return {};
    });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
    return AclBoundary("aclrtGetDeviceInfo", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindDevice(deviceId, &device));
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
        return ReadAttribute(*device, attr, value);
    });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
    return AclBoundary("aclrtGetPrimaryCtxState", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(active, "active"));
        bool found = false;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().HasPrimary(deviceId, &found));
        if (flags != nullptr) {
            *flags = 0;
        }
        *active = found ? 1 : 0;
        return {};
    });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    return AclBoundary("aclrtDeviceCanAccessPeer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(canAccessPeer, "canAccessPeer"));
        const Device* device = nullptr;
        const Device* peer = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        ADVSTEP_RETURN_IF_ERROR(FindPeer(peerDeviceId, &peer));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): both were found
        ADVSTEP_RETURN_IF_ERROR(CheckOther(*device, *peer));
        *canAccessPeer = 1;
        return {};
    });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    return AclBoundary("aclrtDeviceEnablePeerAccess", [&]() -> Status {
        if (flags != 0) {
            return Error(ACL_ERROR_FEATURE_UNSUPPORTED, "flags is {:#x}; expected 0", flags);
        }
        ContextRef current;
        const Device* peer = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindPair(peerDeviceId, &current, &peer));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): both were found
        return EnablePeerAccess(*current.device, *peer);
    });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    return AclBoundary("aclrtDeviceDisablePeerAccess", [&]() -> Status {
        ContextRef current;
        const Device* peer = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindPair(peerDeviceId, &current, &peer));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): both were found
        return DisablePeerAccess(*current.device, *peer);
    });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
    return AclBoundary("aclrtDevicePeerAccessStatus", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(status, "status"));
        const Device* device = nullptr;
        const Device* peer = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        ADVSTEP_RETURN_IF_ERROR(FindPeer(peerDeviceId, &peer));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): both were found
        ADVSTEP_RETURN_IF_ERROR(CheckOther(*device, *peer));
        *status = HasPeerAccess(*device, *peer) ? 1 : 0;
        return {};
    });
}

aclError aclrtDeviceL2CacheFlush(void* rsv) {
    return AclBoundary("aclrtDeviceL2CacheFlush", [&]() -> Status {
        if (rsv != nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "rsv is {}; expected NULL", rsv);
        }
        ContextRef current;
        return CurrentContext(&current);
    });
}
