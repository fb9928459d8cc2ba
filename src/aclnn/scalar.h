// SPDX-License-Identifier: Apache-2.0
// The scalar that the opaque handle aclScalar points to.

#pragma once

#include <vector>

#include "aclnn/acl_meta.h"

/// The object of the opaque handle: a copy of one value.
struct aclScalar {
    aclDataType dataType;
    std::vector<unsigned char> value;
};
