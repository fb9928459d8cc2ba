// SPDX-License-Identifier: Apache-2.0
// The rt* functions of CANN's private headers, for device binaries and memory between cores. All of
// them are refused.

#include "src/cann/boundary.h"

using namespace advstep::cann;

namespace {

int32_t RefusePrivate(const char* call, const char* message) {
    return advstepRecordFailure(call, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, message);
}

}  // namespace

extern "C" {

ADVSTEP_API int32_t rtDevBinaryRegister(const void*, void**) {
    return RefusePrivate("rtDevBinaryRegister",
                         "a device binary cannot be loaded; expected calls of aclnn functions");
}

ADVSTEP_API int32_t rtFunctionRegister(void*, const void*, const char* name, const void*,
                                       uint32_t) {
    return Boundary("rtFunctionRegister", [&]() -> Outcome {
        return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "function " + std::string(name == nullptr ? "(null)" : name) +
                    " of a device binary cannot be used; expected calls of aclnn functions"};
    });
}

ADVSTEP_API int32_t rtKernelLaunch(const void*, uint32_t, void*, uint32_t, void*, void*) {
    return RefusePrivate(
        "rtKernelLaunch",
        "a kernel of a device binary cannot run; expected calls of aclnn functions");
}

ADVSTEP_API int32_t rtGetC2cCtrlAddr(uint64_t*, uint32_t*) {
    return RefusePrivate("rtGetC2cCtrlAddr",
                         "there is no control memory between cores; expected no use of it");
}

}  // extern "C"
