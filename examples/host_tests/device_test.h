// SPDX-License-Identifier: Apache-2.0
// A fixture with a device of its own for each test.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"

/// Each test starts with a fresh device. What a test leaves unfreed is listed on standard error
/// after it, and fails the test program.
// [fixture]
class DeviceTest : public testing::Test {
 protected:
    void SetUp() override {
        setenv("ADVANCE_STEP_LEAKS", "fail", 0);
        setenv("ADVANCE_STEP_GUARD", "after", 0);   // a write past an allocation ends the program
        setenv("ADVANCE_STEP_SANITIZE", "all", 0);  // races, early frees, unwritten memory, hangs
        setenv("ADVANCE_STEP_SANITIZE_ACTION", "fail", 0);
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    void TearDown() override {
        advstepClearFaults();
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }
};
// [/fixture]
