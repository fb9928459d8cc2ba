// SPDX-License-Identifier: Apache-2.0
// Faults, which an emulated device does not have, and the abort of all work of a device.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/lifecycle/task_abort.h"

using namespace advstep;

namespace {

Status CheckDevice(int32_t deviceId) {
    const Device* device = nullptr;
    return TheDeviceRegistry().Find(deviceId, &device);
}

Status CheckFaultyRange(const aclrtMemUceInfo& range, size_t index) {
    const bool clear = std::all_of(std::begin(range.reserved), std::end(range.reserved),
                                   [](size_t word) { return word == 0; });
    return clear ? Status()
                 : Error(ACL_ERROR_INVALID_PARAM,
                         "memUceInfoArray[{}].reserved is not 0; expected {} words of 0", index,
                         std::size(range.reserved));
}

}  // namespace

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
    return AclBoundary("aclrtGetErrorVerbose", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(errorInfo, "errorInfo"));
        ADVSTEP_RETURN_IF_ERROR(CheckDevice(deviceId));
        std::memset(errorInfo, 0, sizeof(*errorInfo));
        return {};
    });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
    return AclBoundary("aclrtRepairError", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(errorInfo, "errorInfo"));
        return CheckDevice(deviceId);
    });
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                            size_t* retSize) {
    return AclBoundary("aclrtGetMemUceInfo", [&]() -> Status {
        if (arraySize > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireNotNull(memUceInfoArray, "memUceInfoArray"));
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(retSize, "retSize"));
        ADVSTEP_RETURN_IF_ERROR(CheckDevice(deviceId));
        *retSize = 0;
        return {};
    });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
    return AclBoundary("aclrtMemUceRepair", [&]() -> Status {
        if (arraySize > ACL_RT_MEM_UCE_INFO_MAX_NUM) {
            return Error(ACL_ERROR_INVALID_PARAM, "arraySize is {}; expected at most {}", arraySize,
                         ACL_RT_MEM_UCE_INFO_MAX_NUM);
        }
        if (arraySize > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireNotNull(memUceInfoArray, "memUceInfoArray"));
        }
        for (size_t i = 0; i < arraySize; ++i) {
            ADVSTEP_RETURN_IF_ERROR(CheckFaultyRange(memUceInfoArray[i], i));
        }
        return CheckDevice(deviceId);
    });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    return AclBoundary("aclrtDeviceTaskAbort", [&]() -> Status {
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it was found
        return AbortDeviceTasks(*device, timeout);
    });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback,
                                         void* args) {
    return AclBoundary("aclrtSetDeviceTaskAbortCallback", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(regName, "regName"));
        return SetTaskAbortCallback(regName, callback, args);
    });
}
