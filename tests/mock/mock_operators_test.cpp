// SPDX-License-Identifier: Apache-2.0
// The mock of CANN's operators. Without libtorch the library refuses in phase one, which is what
// these tests ask of it.
#include "advance_step/testing/mock_operators.h"

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_matmul.h"

namespace {

using advance_step::testing::MockOperators;
using testing::NiceMock;
using testing::Return;

aclnnStatus PlanAbs() {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    return aclnnAbsGetWorkspaceSize(nullptr, nullptr, &size, &executor);
}

TEST(MockOperatorsTest, CallsReachTheLibraryWithoutAMock) {
    EXPECT_EQ(PlanAbs(), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_STREQ(aclGetRecentErrMsg(), "aclnnAbsGetWorkspaceSize: self is null; expected a tensor");
    EXPECT_EQ(aclnnAbs(nullptr, 0, nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
}

TEST(MockOperatorsTest, ACodeIsTheResultOfThatFunctionOnly) {
    NiceMock<MockOperators> operators;
    EXPECT_CALL(operators, PhaseOne("aclnnAbs")).WillOnce(Return(ACLNN_ERR_INNER_TILING_ERROR));
    EXPECT_CALL(operators, PhaseOne("aclnnMatmul")).WillOnce(Return(ACLNN_SUCCESS));
    EXPECT_EQ(PlanAbs(), ACLNN_ERR_INNER_TILING_ERROR);
    EXPECT_EQ(aclnnMatmulGetWorkspaceSize(nullptr, nullptr, nullptr, 0, nullptr, nullptr),
              ACLNN_ERR_PARAM_NULLPTR);
}

TEST(MockOperatorsTest, TheNewestMockIsAsked) {
    NiceMock<MockOperators> outer;
    EXPECT_CALL(outer, PhaseTwo("aclnnAbs")).WillOnce(Return(ACLNN_ERR_RUNTIME_ERROR));
    {
        NiceMock<MockOperators> inner;
        EXPECT_CALL(inner, PhaseTwo("aclnnAbs")).WillOnce(Return(ACLNN_ERR_INNER));
        EXPECT_EQ(aclnnAbs(nullptr, 0, nullptr, nullptr), ACLNN_ERR_INNER);
    }
    EXPECT_EQ(aclnnAbs(nullptr, 0, nullptr, nullptr), ACLNN_ERR_RUNTIME_ERROR);
}

}  // namespace
