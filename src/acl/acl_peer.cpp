// SPDX-License-Identifier: Apache-2.0
// Peer calls: query, enable and disable access between devices.

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

// As DeviceRegistry::Find, with the name of the argument in the message.
Status FindPeer(int32_t peerDeviceId, const Device** peer) {
    uint32_t count = 0;
    ADVSTEP_RETURN_IF_ERROR(DeviceRegistry::Instance().Count(&count));
    if (peerDeviceId < 0 || static_cast<uint32_t>(peerDeviceId) >= count) {
        return Error(ACL_ERROR_RT_INVALID_DEVICEID,
                     "peerDeviceId is {}; expected 0 <= peerDeviceId < device count = {}",
                     peerDeviceId, count);
    }
    return DeviceRegistry::Instance().Find(peerDeviceId, peer);
}

Status FindPair(int32_t peerDeviceId, ContextRef* current, const Device** peer) {
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(current));
    return FindPeer(peerDeviceId, peer);
}

}  // namespace

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    return AclBoundary("aclrtDeviceCanAccessPeer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(canAccessPeer, "canAccessPeer"));
        const Device* device = nullptr;
        const Device* peer = nullptr;
        ADVSTEP_RETURN_IF_ERROR(DeviceRegistry::Instance().Find(deviceId, &device));
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
