// SPDX-License-Identifier: Apache-2.0
// Looks for the allocations that the memory of a call lies in.

#include "src/aclnn/range_check.h"

#include "acl/acl_base.h"
#include "src/runtime/sanitizer/device_sanitizer.h"

namespace advstep {

Status FindRange(const Device& device, const char* name, const void* address, uint64_t bytes,
                 uint64_t* left) {
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice() ||
        (allocation.OfDevice() && allocation.device != &device)) {
        TellRefused(name, address, bytes, &device);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is at {}, which lies in no allocation of device {}; expected device or "
                     "registered memory there",
                     name, address, device.id());
    }
    *left = allocation.BytesFrom(address);
    if (*left < bytes) {
        TellRefused(name, address, bytes, &device);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} takes {} bytes at {}, where a device range of {} bytes is left; expected "
                     "it inside one allocation",
                     name, bytes, address, *left);
    }
    return {};
}

Status MisalignedError(const char* name, uintptr_t address, uint64_t alignment) {
    return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is at {:#x}; expected a multiple of {}", name,
                 address, alignment);
}

}  // namespace advstep
