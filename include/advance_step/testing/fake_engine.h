// SPDX-License-Identifier: Apache-2.0
/// An engine that decodes without a model, and a test fixture with such an engine, for tests of
/// schedulers. Programs link advance_step::mock; docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "advance_step/testing/mock_acl.h"

namespace advance_step::testing {

/// A sequence, as the scheduler sees it. A step changes the length, the position and the slot.
struct FakeSequence {
    int64_t length = 0;          ///< tokens so far
    std::vector<int64_t> blocks; ///< KV cache blocks, in order; the next token must fit in them
    int64_t token = 0;           ///< the token sampled last, which becomes the next input
    int64_t position = -1;       ///< position at which the last step put its token; -1: no step yet
    int64_t slot = -1;           ///< KV cache slot for that token's K and V; -1: no step yet
};

/// Moves sequences one token forward with aclnnAdvanceStep, as an engine does around its model. It
/// uses the public C functions, so a mock sees every call and may refuse it: aclrtMalloc for the
/// tensors, six aclCreateTensor, aclrtMemcpy, phase one, aclrtMalloc for a workspace if one is
/// needed, phase two, aclrtSynchronizeStream, aclrtMemcpy, and the calls that free all of these.
class FakeEngine {
 public:
    /// @param[in] blockSize  tokens of a KV cache block; >= 1
    explicit FakeEngine(int64_t blockSize) : blockSize_(blockSize) {}

    /// Moves all sequences one token forward, and waits for that.
    /// @param[in,out] sequences  at least one; unchanged unless the step succeeds
    /// @return ACL_SUCCESS, or the code of the first call that failed
    int Decode(std::vector<FakeSequence>& sequences, aclrtStream stream);

    uint64_t DecodeCalls() const { return decodeCalls_; }      ///< calls of Decode, failed ones too
    uint64_t DecodedSteps() const { return decodedSteps_; }    ///< calls of Decode that succeeded
    uint64_t DecodedTokens() const { return decodedTokens_; }  ///< tokens of all sequences so far

 private:
    int64_t blockSize_;
    uint64_t decodeCalls_ = 0;
    uint64_t decodedSteps_ = 0;
    uint64_t decodedTokens_ = 0;
};

/// A fixture with device 0, a stream, an engine with blocks of 4 tokens, and a mock of all calls.
/// SetUp resets the counts of calls at its end.
class FakeEngineTest : public ::testing::Test {
 protected:
    /// Opens device 0 and the stream. The test fails and ends if that is not possible.
    void SetUp() override {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        ForgetCalls();
    }
    /// Verifies the expectations, then closes the stream and the device.
    void TearDown() override {
        // Expectations of the test must not apply to the calls that close the device.
        EXPECT_TRUE(::testing::Mock::VerifyAndClearExpectations(&acl));
        if (stream != nullptr) {
            EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        }
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }

    /// Returns the number of calls of a C function since SetUp.
    static uint64_t Calls(std::string_view function) { return CallsOf(function); }

    ::testing::NiceMock<MockAcl> acl;  ///< takes every call
    FakeEngine engine{4};              ///< blocks of 4 tokens
    aclrtStream stream = nullptr;      ///< stream of device 0
};

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_
