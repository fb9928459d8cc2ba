// SPDX-License-Identifier: Apache-2.0
// Registration of arrays where they lie, for the Python package.

#include "src/acl/host_array.h"

#include "src/acl/allocate.h"
#include "src/acl/pinned_bytes.h"
#include "src/base/boundary.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

aclError advstepRegisterHostArray(void* ptr, uint64_t size) {
    return AclBoundary("advstepRegisterHostArray", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
        ADVSTEP_RETURN_IF_ERROR(CheckHostRange(ptr, size));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return PinCounted(*current.device, size, &ptr,
                          [&] { return TheDeviceMemory().Register(ptr, size, {}); });
    });
}
