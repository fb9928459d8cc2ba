// SPDX-License-Identifier: Apache-2.0
// The call that returns the version of the library.
#include "advance_step/version.h"

#include "src/base/boundary.h"

using namespace advstep;

aclError advstepGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    return AclBoundary("advstepGetVersion", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(majorVersion, "majorVersion"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(minorVersion, "minorVersion"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(patchVersion, "patchVersion"));
        *majorVersion = ADVSTEP_VERSION_MAJOR;
        *minorVersion = ADVSTEP_VERSION_MINOR;
        *patchVersion = ADVSTEP_VERSION_PATCH;
        return {};
    });
}
