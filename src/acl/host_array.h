// SPDX-License-Identifier: Apache-2.0
// Registration of arrays where they lie, for the Python package.

#pragma once

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Does what aclrtHostRegister does for a range that may start anywhere. A real device maps whole
/// pages, so programs do not have it; arrays of numpy and torch on "cpu" share pages. It is
/// exported for the Python package, and no public header declares it. aclrtHostUnregister ends it.
/// The codes are those of aclrtHostRegister.
ADVSTEP_API aclError advstepRegisterHostArray(void* ptr, uint64_t size);

#ifdef __cplusplus
}
#endif
