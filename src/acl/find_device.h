// SPDX-License-Identifier: Apache-2.0
// Finds a device by an unsigned number, which some calls take.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/lifecycle/device_registry.h"

namespace advstep {

/// As DeviceRegistry::Find. A number that no device has returns `code`.
inline Status FindDevice(uint32_t deviceId, const Device** device,
                         int32_t code = ACL_ERROR_RT_INVALID_DEVICEID) {
    uint32_t count = 0;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Count(&count));
    if (deviceId >= count) {
        return Error(code, "deviceId is {}; expected 0 <= deviceId < device count = {}", deviceId,
                     count);
    }
    return TheDeviceRegistry().Find(static_cast<int32_t>(deviceId), device);
}

}  // namespace advstep
