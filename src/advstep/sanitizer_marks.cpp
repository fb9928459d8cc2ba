// SPDX-License-Identifier: Apache-2.0
// The calls by which a pool tells the sanitizer which bytes are in use.

#include "advance_step/sanitizer.h"
#include "src/base/boundary.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/sanitizer/device_sanitizer.h"

using namespace advstep;

namespace {

Status CheckInside(const void* address, uint64_t bytes) {
    Allocation allocation;
    if (address != nullptr && TheDeviceMemory().Find(address, &allocation) &&
        allocation.BytesFrom(address) >= bytes) {
        return {};
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "address is {} with {} bytes, which are not inside one allocation; expected "
                 "device, pinned or registered memory",
                 address, bytes);
}

}  // namespace

aclError advstepPoisonMemory(const void* address, uint64_t bytes) {
    return AclBoundary("advstepPoisonMemory", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckInside(address, bytes));
        if (SanitizingWork() && bytes > 0) {
            TheDeviceSanitizer().Poison(address, bytes);
        }
        return {};
    });
}

aclError advstepUnpoisonMemory(const void* address, uint64_t bytes) {
    return AclBoundary("advstepUnpoisonMemory", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckInside(address, bytes));
        if (SanitizingWork() && bytes > 0) {
            TheDeviceSanitizer().Unpoison(address, bytes);
        }
        return {};
    });
}
