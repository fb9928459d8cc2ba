/// A decode step without a model, and a fixture with it, for tests of schedulers. Link
/// advance_step::mock; docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "acl/acl.h"
#include "advance_step/testing/mock_acl.h"

namespace advance_step::testing {

/// What a scheduler knows of a sequence, and what a step changes of it.
struct FakeSequence {
    int64_t length = 0;          ///< tokens so far
    std::vector<int64_t> blocks; ///< of the KV cache, in order; the next token must fit in them
    int64_t token = 0;           ///< sampled last, becomes the next input
    int64_t position = -1;       ///< where the last step put the token
    int64_t slot = -1;           ///< slot of its K and V in the KV cache
};

/// Moves sequences one token forward with aclnnAdvanceStep, as an engine would around its model.
/// Every call of the library goes through the C functions, so mocks see it and may refuse it:
/// aclrtMalloc for the tensors, six aclCreateTensor, aclrtMemcpy, phase one, aclrtMalloc for a
/// workspace if there is one, phase two, aclrtSynchronizeStream, aclrtMemcpy, and what frees.
class FakeEngine {
 public:
    /// @param[in] blockSize  tokens of a KV cache block; >= 1
    explicit FakeEngine(int64_t blockSize) : blockSize_(blockSize) {}

    /// @param[in,out] sequences  at least one; unchanged unless the step succeeds
    /// @return ACL_SUCCESS, or the code of the first call that failed
    int Decode(std::vector<FakeSequence>& sequences, aclrtStream stream);

    uint64_t DecodeCalls() const { return decodeCalls_; }      ///< failed ones included
    uint64_t DecodedSteps() const { return decodedSteps_; }    ///< that succeeded
    uint64_t DecodedTokens() const { return decodedTokens_; }  ///< of all sequences

 private:
    int64_t blockSize_;
    uint64_t decodeCalls_ = 0;
    uint64_t decodedSteps_ = 0;
    uint64_t decodedTokens_ = 0;
};

/// Device 0, a stream, an engine with blocks of 4 tokens, and the mock that all calls go to. Call
/// counts begin after SetUp.
class FakeEngineTest : public ::testing::Test {
 protected:
    /// Device 0 and the stream; ends the test where they cannot be had.
    void SetUp() override {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        ForgetCalls();
    }
    /// Judges the expectations, then ends the stream and the device.
    void TearDown() override {
        // Expectations are done with before the calls that end the device.
        EXPECT_TRUE(::testing::Mock::VerifyAndClearExpectations(&acl));
        if (stream != nullptr) {
            EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        }
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }

    /// How often a C function was called since SetUp.
    static uint64_t Calls(std::string_view function) { return CallsOf(function); }

    ::testing::NiceMock<MockAcl> acl;  ///< takes every call
    FakeEngine engine{4};              ///< blocks of 4 tokens
    aclrtStream stream = nullptr;      ///< of device 0
};

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_FAKE_ENGINE_H_
