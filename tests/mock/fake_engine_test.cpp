// SPDX-License-Identifier: Apache-2.0
// The fake engine computes what aclnnAdvanceStep defines, counts, and stops at the first failure.
#include "advance_step/testing/fake_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using advance_step::testing::FakeEngineTest;
using advance_step::testing::FakeSequence;
using testing::Return;

std::vector<FakeSequence> TwoSequences() {
    return {{5, {2, 7, 0}, 101}, {8, {4, 0, 6}, 102}};  // lengths, blocks, newest tokens
}

TEST_F(FakeEngineTest, MovesSequencesForward) {
    std::vector<FakeSequence> sequences = TwoSequences();
    ASSERT_EQ(engine.Decode(sequences, stream), ACL_SUCCESS);
    // Token 5 is the second of block 7, token 8 the first of block 6.
    EXPECT_EQ(sequences[0].slot, 29);
    EXPECT_EQ(sequences[1].slot, 24);
    EXPECT_EQ(sequences[0].position, 5);
    EXPECT_EQ(sequences[1].position, 8);
    EXPECT_EQ(sequences[0].length, 6);
    EXPECT_EQ(sequences[1].length, 9);
    ASSERT_EQ(engine.Decode(sequences, stream), ACL_SUCCESS);
    EXPECT_EQ(sequences[0].slot, 30);
    EXPECT_EQ(engine.DecodedSteps(), 2U);
    EXPECT_EQ(engine.DecodedTokens(), 4U);
    EXPECT_EQ(Calls("aclnnAdvanceStep"), 2U);
    EXPECT_EQ(Calls("aclrtSynchronizeStream"), 2U);
    EXPECT_EQ(Calls("aclrtMalloc"), Calls("aclrtFree"));
    EXPECT_EQ(Calls("aclCreateTensor"), Calls("aclDestroyTensor"));
}

TEST_F(FakeEngineTest, BadDataIsTheLibrarysOwnError) {
    std::vector<FakeSequence> sequences = TwoSequences();
    sequences[1].blocks[2] = -1;
    EXPECT_EQ(engine.Decode(sequences, stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(sequences[0].length, 5);
    EXPECT_EQ(engine.DecodeCalls(), 1U);
    EXPECT_EQ(engine.DecodedSteps(), 0U);
}

// Whatever room the blocks of another sequence make in the table.
TEST_F(FakeEngineTest, ASequenceWithoutABlockForItsTokenIsAnError) {
    std::vector<FakeSequence> sequences = TwoSequences();
    sequences.push_back({4, {3}, 103});
    EXPECT_EQ(engine.Decode(sequences, stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(sequences[2].slot, -1);
    EXPECT_EQ(engine.DecodedSteps(), 0U);
}

TEST_F(FakeEngineTest, EndsAtTheFirstFailureAndFreesWhatItHas) {
    std::vector<FakeSequence> sequences = TwoSequences();
    EXPECT_CALL(acl, aclrtMalloc).WillOnce(Return(1));
    EXPECT_EQ(engine.Decode(sequences, stream), 1);
    EXPECT_EQ(Calls("aclCreateTensor"), 0U);
    testing::Mock::VerifyAndClearExpectations(&acl);

    EXPECT_CALL(acl, aclCreateTensor).WillOnce(Return(nullptr));
    EXPECT_EQ(engine.Decode(sequences, stream), ACL_ERROR_BAD_ALLOC);
    testing::Mock::VerifyAndClearExpectations(&acl);

    EXPECT_CALL(acl, aclnnAdvanceStepGetWorkspaceSize).WillOnce(Return(2));
    EXPECT_EQ(engine.Decode(sequences, stream), 2);
    EXPECT_EQ(Calls("aclnnAdvanceStep"), 0U);
    testing::Mock::VerifyAndClearExpectations(&acl);

    EXPECT_CALL(acl, aclrtSynchronizeStream(stream)).WillOnce(Return(3));
    EXPECT_EQ(engine.Decode(sequences, stream), 3);
    EXPECT_EQ(Calls("aclnnAdvanceStep"), 1U);
    // The allocation that was refused, and nothing else, was not freed.
    EXPECT_EQ(Calls("aclrtMalloc"), Calls("aclrtFree") + 1);
    EXPECT_EQ(sequences[0].length, 5);
    EXPECT_EQ(engine.DecodeCalls(), 4U);
}

}  // namespace
