// SPDX-License-Identifier: Apache-2.0
// The start and the end of the runtime.

#include "acl/acl.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

aclError aclInit(const char* configPath) {
    return AclBoundary("aclInit", [&] { return TheDeviceRegistry().Init(configPath); });
}

aclError aclFinalize(void) {
    return AclBoundary("aclFinalize", []() -> Status {
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Finalize());
        ReportLeaks("aclFinalize");
        return {};
    });
}

aclError aclFinalizeReference(uint64_t* refCount) {
    return AclBoundary("aclFinalizeReference", [&]() -> Status {
        uint64_t left = 0;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().FinalizeReference(&left));
        if (left == 0) {
            ReportLeaks("aclFinalizeReference");
        }
        if (refCount != nullptr) {
            *refCount = left;
        }
        return {};
    });
}
