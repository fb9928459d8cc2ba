// SPDX-License-Identifier: Apache-2.0
// Ends the program after a failed call.

#include "tests/benchmark/require.h"

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

void Require(int status) {
    if (status != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%d %s\n", status, message != nullptr ? message : "");
        std::exit(1);
    }
}

DeviceInUse::DeviceInUse() { Require(aclrtSetDevice(0)); }

DeviceInUse::~DeviceInUse() { Require(aclrtResetDevice(0)); }
