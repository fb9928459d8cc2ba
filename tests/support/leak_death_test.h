// SPDX-License-Identifier: Apache-2.0
// Tests of the report of what a program has not freed.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "acl/acl.h"
#include "support/runtime_test.h"

namespace support {

inline constexpr char kLeaks[] = "ADVANCE_STEP_LEAKS";

/// ADVANCE_STEP_LEAKS in the children of death tests.
class LeakDeathTest : public EndedRuntimeTest {
 protected:
    LeakDeathTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        // The child inherits it: the address sanitizer looks for leaks as well.
        setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    }
};

/// In the child of a death test. Without `lines`, the report does not wait for a tool.
inline void Start(const char* mode, bool lines = false) {
    setenv(kLeaks, mode, 1);
    setenv("ADVANCE_STEP_SOURCE_LINES", lines ? "on" : "off", 1);
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        std::_Exit(40);
    }
}
inline void Need(int code) {
    if (code != 0) {
        std::_Exit(41);
    }
}
inline void* Allocate(size_t bytes) {
    void* memory = nullptr;
    Need(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

}  // namespace support
