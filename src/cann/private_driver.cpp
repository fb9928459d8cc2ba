// SPDX-License-Identifier: Apache-2.0
// The functions of CANN's driver, libascend_hal, that clients bind or look up: the number of
// devices, and refusals.

#include "src/advstep/machine.h"
#include "src/cann/boundary.h"

namespace {

constexpr char kRefusal[] =
    "there is no driver of a device; expected aclrtHostRegister and aclrtHostUnregister";

}  // namespace

extern "C" {

// Counts the machine's devices. Clients ask for it before the runtime starts, and apply
// ASCEND_RT_VISIBLE_DEVICES themselves.
ADVSTEP_API int32_t drvGetDevNum(int* count) {
    return advstepCountMachineDevices("drvGetDevNum", count);
}

// The parameters of the driver's calls are unknown; their callers do not notice that.
ADVSTEP_API int32_t halHostRegister() {
    return advstepRecordFailure("halHostRegister", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, kRefusal);
}

ADVSTEP_API int32_t halHostUnregister() {
    return advstepRecordFailure("halHostUnregister", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, kRefusal);
}

}  // extern "C"
