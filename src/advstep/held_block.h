// SPDX-License-Identifier: Apache-2.0
// Device memory whose address nobody else gets while it is held, for the graph library.

#pragma once

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Does what aclrtMalloc does, and holds the block: when a reset of the device or aclrtFree takes
/// it, its address is not given out again before advstepEndHold. So calls with the address touch
/// the block or are refused (107000); they never touch a block of somebody else that came to the
/// same place. It is exported for the graph library, and no public header declares it.
/// 100000: a pointer is null, or bytes is 0. 107002: there is no context. 207001: memory is short.
ADVSTEP_API aclError advstepAllocateHeld(uint64_t bytes, void** address, void** hold);

/// Ends the hold, after aclrtFree; null does nothing.
ADVSTEP_API void advstepEndHold(void* hold);

#ifdef __cplusplus
}
#endif
