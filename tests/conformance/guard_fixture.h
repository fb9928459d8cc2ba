// SPDX-License-Identifier: Apache-2.0
// A runtime whose allocations are guarded.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_GUARD_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_GUARD_FIXTURE_H_

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "support/runtime_test.h"

namespace conformance {

// Anew, with these settings and device 0.
inline void StartGuarded(const char* mode) {
    support::WriteEnvironment({{"ADVANCE_STEP_GUARD", mode}, {"ADVANCE_STEP_MEMORY", "64M"}});
    ASSERT_TRUE(support::IsOk(aclInit(nullptr)));
    ASSERT_TRUE(support::IsOk(aclrtSetDevice(0)));
}

inline volatile char* Device(size_t bytes) {
    void* address = nullptr;
    EXPECT_TRUE(support::IsOk(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST)));
    return static_cast<volatile char*>(address);
}
inline volatile char* Pinned(size_t bytes) {
    void* address = nullptr;
    EXPECT_TRUE(support::IsOk(aclrtMallocHost(&address, bytes)));
    return static_cast<volatile char*>(address);
}
inline void Free(volatile char* address) {
    EXPECT_TRUE(support::IsOk(aclrtFree(const_cast<char*>(address))));
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_GUARD_FIXTURE_H_
