// SPDX-License-Identifier: Apache-2.0
// The emulated machine of a fuzz target, and what it does where the library is wrong.

#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

/// Ends the process with the place and the message of the last failing call; the fuzzer keeps the
/// input.
template <typename Result>
void RequireAt(const Result& holds, const char* what, const char* file, int line) {
    if (!holds) {
        const char* message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s:%d: not so: %s; last message: %s\n", file, line, what,
                     message != nullptr ? message : "none");
        std::abort();
    }
}
#define FUZZ_REQUIRE(holds) RequireAt((holds), #holds, __FILE__, __LINE__)

/// Starts the runtime anew only if the input asks for another machine than the one before.
inline void UseMachine(const std::string& soc, const std::string& conformance) {
    testing::FLAGS_gtest_throw_on_failure = true;  // of what the fixtures expect
    static std::string current;
    const std::string wanted = soc + conformance;
    if (current == wanted) {
        return;
    }
    if (!current.empty()) {
        FUZZ_REQUIRE(aclFinalize() == ACL_SUCCESS);
    }
    setenv("ADVANCE_STEP_SOC", soc.c_str(), 1);
    setenv("ADVANCE_STEP_CONFORMANCE", conformance.c_str(), 1);
    FUZZ_REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
    FUZZ_REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
    current = wanted;
}
