// SPDX-License-Identifier: Apache-2.0
// A shared library that calls the library: see mock_acl_test.cpp.
#include "acl/acl.h"

extern "C" __attribute__((visibility("default"))) size_t SizeInPlugin() {
    return aclDataTypeSize(ACL_INT8);
}
