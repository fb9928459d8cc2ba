// SPDX-License-Identifier: Apache-2.0
// Runtime calls that clients bind and the library does not have: they are refused.

#include "src/cann/boundary.h"

namespace {

aclError Refuse(const char* call, const char* message) {
    return advstepRecordFailure(call, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, message);
}

constexpr char kSharing[] =
    "physical memory cannot be shared between processes; expected memory of one process";
constexpr char kBinaries[] =
    "a device binary cannot be loaded or used; expected calls of aclnn functions";

}  // namespace

// A name goes from here when libadvance_step has it: the loader then takes the one there, and
// tests/lint/check_cann_names.py says so.
extern "C" {

ADVSTEP_API aclError aclrtMemExportToShareableHandle(void*, int, uint64_t, uint64_t*) {
    return Refuse("aclrtMemExportToShareableHandle", kSharing);
}

ADVSTEP_API aclError aclrtMemImportFromShareableHandle(uint64_t, int32_t, void**) {
    return Refuse("aclrtMemImportFromShareableHandle", kSharing);
}

ADVSTEP_API aclError aclrtMemSetPidToShareableHandle(uint64_t, int32_t*, size_t) {
    return Refuse("aclrtMemSetPidToShareableHandle", kSharing);
}

ADVSTEP_API aclError aclrtBinaryLoadFromData(const void*, size_t, const void*, void**) {
    return Refuse("aclrtBinaryLoadFromData", kBinaries);
}

ADVSTEP_API aclError aclrtBinaryGetFunction(void*, const char*, void**) {
    return Refuse("aclrtBinaryGetFunction", kBinaries);
}

ADVSTEP_API aclError aclrtGetFunctionAddr(void*, void**, void**) {
    return Refuse("aclrtGetFunctionAddr", kBinaries);
}

}  // extern "C"
