// SPDX-License-Identifier: Apache-2.0
// Registration of host memory by flags, and its address on devices.

#include <cstdint>

#include "acl/acl_rt.h"
#include "src/acl/allocate.h"
#include "src/acl/find_device.h"
#include "src/acl/pinned_bytes.h"
#include "src/base/boundary.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

constexpr uint32_t kRegisterFlags = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED;
constexpr uint32_t kUnsupportedRegisterFlags = ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY;

Status CheckRegisterFlag(uint32_t flag) {
    if (flag == 0 || (flag & ~(kRegisterFlags | kUnsupportedRegisterFlags)) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {:#x}; expected one or more of the ACL_HOST_REG_ bits {:#x}", flag,
                     kRegisterFlags);
    }
    return (flag & kUnsupportedRegisterFlags) == 0
               ? Status()
               : Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "flag is {:#x}, with ACL_HOST_REG_IOMEMORY or ACL_HOST_REG_READONLY; "
                       "expected only bits of {:#x}",
                       flag, kRegisterFlags);
}

bool ReachesMappedMemory(aclrtHacType type) {
    return type <= ACL_RT_HAC_TYPE_PCIEDMA || type == ACL_RT_HAC_TYPE_SDMA;
}

}  // namespace

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
    return AclBoundary("aclrtHostRegisterV2", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
        ADVSTEP_RETURN_IF_ERROR(CheckRegisterFlag(flag));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const bool mapped = (flag & ACL_HOST_REG_MAPPED) != 0;
        if (mapped) {
            ADVSTEP_RETURN_IF_ERROR(CheckStartsPage(ptr));
        }
        ADVSTEP_RETURN_IF_ERROR(CheckHostRange(ptr, size));
        RegistrationEffect effect;
        effect.mapped = mapped;
        effect.pinned = effect.onlyPageable = (flag & ACL_HOST_REG_PINNED) != 0;
        return PinCounted(*current.device, size, &ptr,
                          [&] { return TheDeviceMemory().Register(ptr, size, effect); });
    });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
    return AclBoundary("aclrtHostGetDevicePointer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pHost, "pHost"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pDevice, "pDevice"));
        if (flag != 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "flag is {:#x}; expected 0", flag);
        }
        Allocation allocation;
        if (!TheDeviceMemory().Find(pHost, &allocation) || !allocation.mapped) {
            return Error(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                         "pHost is {}, which has no address on a device; expected memory of "
                         "aclrtHostRegister, or of aclrtHostRegisterV2 with ACL_HOST_REG_MAPPED",
                         pHost);
        }
        *pDevice = pHost;
        return {};
    });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                     aclrtHostMemMapCapability* capabilities) {
    return AclBoundary("aclrtHostMemMapCapabilities", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(capabilities, "capabilities"));
        const auto number = static_cast<int>(hacType);
        if (number < ACL_RT_HAC_TYPE_STARS || number > ACL_RT_HAC_TYPE_CCU) {
            return Error(ACL_ERROR_INVALID_PARAM, "hacType is {}; expected an aclrtHacType",
                         number);
        }
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindDevice(deviceId, &device));
        *capabilities = ReachesMappedMemory(hacType) ? ACL_RT_HOST_MEM_MAP_SUPPORTED
                                                     : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
        return {};
    });
}
