// SPDX-License-Identifier: Apache-2.0
// Tests of aclnnInit: settings are checked and nothing starts.

#include <gtest/gtest.h>

#include "aclnn/aclnn_base.h"
#include "support/runtime_test.h"

namespace {

using support::IsError;
using support::IsOk;

class AclnnInitTest : public support::EndedRuntimeTest {};

TEST_F(AclnnInitTest, ChecksTheSettingsAndStartsNothing) {
    EXPECT_TRUE(IsOk(aclnnInit(nullptr)));
    EXPECT_TRUE(IsOk(aclnnInit("")));
    EXPECT_TRUE(IsOk(aclnnFinalize()));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
}

TEST_F(AclnnInitTest, BadSettingsKeepTheirCodeInTheMessage) {
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit("no/such/settings.json"),
                        {"aclnnInit: ", "no/such/settings.json"}, {ACL_ERROR_INVALID_FILE}));
    const support::TempFile file("{");
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit(file.Path()), {file.Path()},
                        {ACL_ERROR_PARSE_FILE}));
    support::WriteEnvironment({{"ADVANCE_STEP_THREADS", "none"}});
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnInit(nullptr), {"ADVANCE_STEP_THREADS"},
                        {ACL_ERROR_FILE_ATTR_INVALID}));
    support::WriteEnvironment({});
}

}  // namespace
