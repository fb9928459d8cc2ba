// SPDX-License-Identifier: Apache-2.0
// Functions that only refuse: the value, and a message that names the call and says why.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "conformance/refused_cases.h"

namespace {

TEST(RefusedCallsTest, EachSaysWhy) {
    const auto cases = conformance::RefusedCases();
    EXPECT_GT(cases.size(), 100U);
    for (const auto& c : cases) {
        EXPECT_TRUE(c.refuses()) << c.name;
        const char* const message = aclGetRecentErrMsg();
        ASSERT_NE(message, nullptr) << c.name;
        EXPECT_EQ(message, std::string(c.name) + ": " + c.refusal);
    }
}

TEST(RefusedCallsTest, LeavesTheOutputAlone) {
    aclrtLabel label = &label;
    EXPECT_EQ(aclrtCreateLabel(&label), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(label, &label);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

}  // namespace
