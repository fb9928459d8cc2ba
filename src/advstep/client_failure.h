// SPDX-License-Identifier: Apache-2.0
// Records the failure of a call that a library of src/cann defines.

#pragma once

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Keeps the failure of the calling thread for aclGetRecentErrMsg, as `<call>: <message>`; that of
/// a call of the runtime also for aclrtGetLastError. Returns code. It is exported for the libraries
/// of src/cann, and no public header declares it.
ADVSTEP_API aclError advstepRecordFailure(const char* call, aclError code, const char* message);

#ifdef __cplusplus
}
#endif
