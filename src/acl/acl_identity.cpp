// SPDX-License-Identifier: Apache-2.0
// The last error of a thread, and what the runtime says of itself.

#include "acl/acl.h"
#include "src/base/boundary.h"
#include "src/base/settings.h"
#include "src/runtime/lifecycle/device_registry.h"

using namespace advstep;

namespace {

Status CheckLevel(aclrtLastErrLevel level) {
    return level == ACL_RT_THREAD_LEVEL
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "level is {}; expected ACL_RT_THREAD_LEVEL = 0",
                       static_cast<int>(level));
}

}  // namespace

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    const aclError bad = AclBoundary("aclrtPeekAtLastError", [&] { return CheckLevel(level); });
    return bad != ACL_SUCCESS ? bad : PeekLastError();
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
    const aclError bad = AclBoundary("aclrtGetLastError", [&] { return CheckLevel(level); });
    return bad != ACL_SUCCESS ? bad : TakeLastError();
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    return AclBoundary("aclrtGetVersion", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(majorVersion, "majorVersion"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(minorVersion, "minorVersion"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(patchVersion, "patchVersion"));
        *majorVersion = ACL_MAJOR_VERSION;
        *minorVersion = ACL_MINOR_VERSION;
        *patchVersion = ACL_PATCH_VERSION;
        return {};
    });
}

const char* aclrtGetSocName(void) {
    const char* name = nullptr;
    (void)AclBoundary("aclrtGetSocName", [&] {
        Status status;
        name = TheDeviceRegistry().SocName(&status);
        return status;
    });
    return name;
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
    return AclBoundary("aclrtCheckArchCompatibility", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(socVersion, "socVersion"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(canCompatible, "canCompatible"));
        *canCompatible = FindSoc(socVersion).has_value() ? 1 : 0;
        return {};
    });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    return AclBoundary("aclrtGetRunMode", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(runMode, "runMode"));
        *runMode = ACL_HOST;
        return {};
    });
}
