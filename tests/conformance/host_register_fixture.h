// SPDX-License-Identifier: Apache-2.0
// Registrations of host memory.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_HOST_REGISTER_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_HOST_REGISTER_FIXTURE_H_

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"

namespace conformance {

class HostRegisterTest : public support::DeviceTest {
 protected:
    using Registration = support::Owned<&aclrtHostUnregister>;
    static constexpr size_t kSize = 4096;

    static aclError Register(void* ptr, uint64_t size, int type = ACL_HOST_REGISTER_MAPPED) {
        void* devPtr = nullptr;
        const aclError status =
            aclrtHostRegister(ptr, size, static_cast<aclrtHostRegisterType>(type), &devPtr);
        EXPECT_EQ(devPtr, status == ACL_SUCCESS ? ptr : nullptr);
        return status;
    }
    // Registered for as long as the result lives.
    static Registration Registered(void* ptr, uint64_t size) {
        EXPECT_TRUE(support::IsOk(Register(ptr, size)));
        return Registration(ptr);
    }
    static support::PageVector<char> All(char value) {
        return support::PageVector<char>(kSize, value);
    }
    static std::vector<char> Bytes(char value) { return std::vector<char>(kSize, value); }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_HOST_REGISTER_FIXTURE_H_
