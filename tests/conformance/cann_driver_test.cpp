// SPDX-License-Identifier: Apache-2.0
// The driver of the prefix, libascend_hal: the number of devices, and refusals.

#include <gtest/gtest.h>
#include <stdint.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "support/runtime_test.h"

extern "C" {
int32_t drvGetDevNum(int* count);
int32_t halHostRegister();
int32_t halHostUnregister();
}

namespace {

using namespace support;

class DriverTest : public EndedRuntimeTest {
 protected:
    DriverTest() { setenv("ADVANCE_STEP_DEVICES", "4", 1); }
    ~DriverTest() override {
        unsetenv("ASCEND_RT_VISIBLE_DEVICES");
        EndRuntime();
    }
};

TEST_F(DriverTest, CountsTheMachinesDevices) {
    for (const char* const visible : {"0,1,2,3", "1", "x"}) {
        setenv("ASCEND_RT_VISIBLE_DEVICES", visible, 1);
        int count = 77;
        EXPECT_TRUE(IsOk(drvGetDevNum(&count)));
        EXPECT_EQ(count, 4) << visible;
    }
    // It has not started the runtime: a variable that is set now counts.
    setenv("ASCEND_RT_VISIBLE_DEVICES", "2", 1);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    uint32_t visible = 77;
    EXPECT_TRUE(IsOk(aclrtGetDeviceCount(&visible)));
    EXPECT_EQ(visible, 1U);
    int count = 77;
    EXPECT_TRUE(IsOk(drvGetDevNum(&count)));
    EXPECT_EQ(count, 4);
}

TEST_F(DriverTest, RefusesByName) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, drvGetDevNum(nullptr), {"drvGetDevNum: count"}));
    setenv("ADVANCE_STEP_DEVICES", "none", 1);
    int count = 77;
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, drvGetDevNum(&count),
                        {"drvGetDevNum: ", "ADVANCE_STEP_DEVICES"}));
    EXPECT_EQ(count, 77);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, halHostRegister(),
                        {"halHostRegister: ", "expected aclrtHostRegister"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, halHostUnregister(),
                        {"halHostUnregister: ", "expected aclrtHostRegister"}));
}

}  // namespace
