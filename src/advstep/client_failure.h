// SPDX-License-Identifier: Apache-2.0
// The recorded failure of a call that a library of the prefix like CANN's defines.

#pragma once

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Keeps the failure of the calling thread for aclGetRecentErrMsg, as `<call>: <message>`, and for
/// aclrtGetLastError. Returns code. The libraries of src/cann call it; it is in no public header.
ADVSTEP_API aclError advstepRecordFailure(const char* call, aclError code, const char* message);

#ifdef __cplusplus
}
#endif
