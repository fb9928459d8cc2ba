// SPDX-License-Identifier: Apache-2.0
// The devices of the machine, for a library of src/cann.

#pragma once

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Counts the machine's devices, whatever ASCEND_RT_VISIBLE_DEVICES selects. The runtime need not
/// have started, and is not started. A failure is that of `call`. It is exported for the libraries
/// of src/cann, and no public header declares it. 100000: count is null. 100008: a setting is not
/// valid.
ADVSTEP_API aclError advstepCountMachineDevices(const char* call, int32_t* count);

#ifdef __cplusplus
}
#endif
