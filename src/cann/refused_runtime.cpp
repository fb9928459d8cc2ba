// SPDX-License-Identifier: Apache-2.0
// Runtime calls that clients bind and the library does not have: they are refused.

#include "src/cann/boundary.h"

namespace {

aclError Refuse(const char* call, const char* message) {
    return advstepRecordFailure(call, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, message);
}

constexpr char kBinaries[] =
    "a device binary cannot be loaded or used; expected calls of aclnn functions";

}  // namespace

// A name goes from here when libadvance_step has it: the loader then takes the one there, and
// tests/lint/check_cann_names.py says so.
extern "C" {

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
