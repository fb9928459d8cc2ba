// SPDX-License-Identifier: Apache-2.0
// Properties and states of devices.
#include "acl/acl_rt.h"
#include "src/acl/find_device.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

namespace {

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

}  // namespace

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
        ADVSTEP_RETURN_IF_ERROR(DeviceRegistry::Instance().HasPrimary(deviceId, &found));
        if (flags != nullptr) {
            *flags = 0;
        }
        *active = found ? 1 : 0;
        return {};
    });
}
