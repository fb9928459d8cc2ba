// SPDX-License-Identifier: Apache-2.0
// The start and the end of the runtime.

#include <utility>

#include "acl/acl.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

// A repeated call has added its reference. Its code tells that, so it leaves no message.
aclError aclInit(const char* configPath) {
    bool repeated = false;
    const aclError failed = AclBoundary("aclInit", [&] {
        Status status = TheDeviceRegistry().Init(configPath);
        repeated = status.code() == ACL_ERROR_REPEAT_INITIALIZE;
        return repeated ? Status() : std::move(status);
    });
    return repeated ? ACL_ERROR_REPEAT_INITIALIZE : failed;
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
