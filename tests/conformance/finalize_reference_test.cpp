// SPDX-License-Identifier: Apache-2.0
// aclFinalizeReference: one reference at a time.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::IsCode;
using support::IsError;
using support::IsOk;

constexpr uint64_t kUntouchedCount = 7777;

class FinalizeReferenceTest : public support::EndedRuntimeTest {
 protected:
    static uint64_t TakeOff() {
        uint64_t left = kUntouchedCount;
        EXPECT_TRUE(IsOk(aclFinalizeReference(&left)));
        return left;
    }
};

TEST_F(FinalizeReferenceTest, CountsDownAndEndsWithTheLast) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const aclrtStream stream = support::MakeStream().Release();
    EXPECT_EQ(TakeOff(), 2U);
    EXPECT_EQ(TakeOff(), 1U);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream))) << "one reference is left";
    EXPECT_EQ(TakeOff(), 0U);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(stream)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream)));
}

TEST_F(FinalizeReferenceTest, AnEndedRuntimeHasNone) {
    uint64_t left = kUntouchedCount;
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left),
                        {"aclFinalizeReference: "}));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left)))
        << "a device in use is no reference";
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    EXPECT_EQ(TakeOff(), 0U);
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left)));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
    EXPECT_EQ(left, kUntouchedCount);
}

TEST_F(FinalizeReferenceTest, FinalizeTakesAll) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(nullptr)));
}

TEST_F(FinalizeReferenceTest, TheCountMayBeNull) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    EXPECT_TRUE(IsOk(aclFinalizeReference(nullptr)));
    EXPECT_TRUE(IsOk(aclFinalizeReference(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(nullptr)));
}

TEST_F(FinalizeReferenceTest, StartsAnew) {
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(IsOk(aclInit(nullptr)));
        EXPECT_EQ(TakeOff(), 0U);
    }
}

TEST_F(FinalizeReferenceTest, IsRefusedInsideAHostFunction) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [] {
        uint64_t left = kUntouchedCount;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalizeReference(&left)));
        EXPECT_EQ(left, kUntouchedCount);
    })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(TakeOff(), 1U) << "a refused call takes nothing off";
    EXPECT_EQ(TakeOff(), 0U);
}

TEST_F(FinalizeReferenceTest, ThreadsTakeTheirOwn) {
    constexpr int kThreads = 8;
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    for (int i = 1; i < kThreads; ++i) {
        ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    }
    std::vector<std::thread> threads;
    std::atomic<uint64_t> sum{0};
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] { sum += TakeOff(); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(sum.load(), 28U) << "7 + 6 + ... + 0";
    EXPECT_TRUE(IsError(ACL_ERROR_REPEAT_FINALIZE, aclFinalize()));
}

}  // namespace
