// SPDX-License-Identifier: Apache-2.0
// Records the failure of a call that a library of src/cann defines.

#include "src/advstep/client_failure.h"

#include "src/base/boundary.h"

aclError advstepRecordFailure(const char* call, aclError code, const char* message) {
    return advstep::RecordAclFailure(call, code, message);
}
