// SPDX-License-Identifier: Apache-2.0
// The level of the log, for a library of src/cann.

#pragma once

#include <stdint.h>

#include "acl/acl.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Returns 1 if aclAppLog writes lines of this level, else 0. It is exported for the libraries of
/// src/cann, and no public header declares it.
ADVSTEP_API int32_t advstepLogEnabled(aclLogLevel level);

#ifdef __cplusplus
}
#endif
