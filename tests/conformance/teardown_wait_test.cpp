// SPDX-License-Identifier: Apache-2.0
// Calls that end streams, contexts, devices or the runtime wait for pending work or are refused.
#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::IsError;
using support::IsOk;

class TeardownWaitTest : public support::DeviceTest {
 protected:
    // A stream that waits until this thread has run a callback, which adds 1 to *ran.
    static void WaitForCallback(aclrtStream stream, int* ran) {
        ASSERT_TRUE(IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream)));
        ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* count) { ++*static_cast<int*>(count); }, ran,
                                             ACL_CALLBACK_BLOCK, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream, 1)));
    }

    // The stream was left alone: it goes on when the callback has run.
    static void GoOn(aclrtStream stream, const int& ran) {
        EXPECT_EQ(ran, 0);
        EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
        EXPECT_EQ(ran, 1);
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
        EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    }

    void SetUp() override {
        DeviceTest::SetUp();
        recorder_ = support::Recorder();
    }

    inline static support::Recorder recorder_;
};

// Another thread is ending the device, and waits for the callback. What only counts down, and the
// other device, do not wait for that.
TEST_F(TeardownWaitTest, CallsThatWouldWaitForAnotherThreadsResetAreRefused) {
    constexpr int kUnsupported = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    const aclrtStream stream = support::MakeStream().Release();
    int ran = 0;
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_NO_FATAL_FAILURE(WaitForCallback(stream, &ran));
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    std::thread other([] { EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0))); });
    // As soon as the other thread has begun.
    EXPECT_TRUE(support::Eventually([] { return aclrtSetDevice(0) == kUnsupported; }));
    EXPECT_TRUE(
        IsError(kUnsupported, aclrtSetDevice(0), {"aclrtSetDevice: ", "aclrtProcessReport"}));
    EXPECT_TRUE(IsError(kUnsupported, aclrtResetDeviceForce(0),
                        {"aclrtResetDeviceForce: ", "aclrtProcessReport"}));
    aclrtContext context = nullptr;
    EXPECT_TRUE(IsError(kUnsupported, aclrtCreateContext(&context, 0), {"aclrtCreateContext: "}));
    EXPECT_TRUE(IsError(kUnsupported, aclFinalize(), {"aclFinalize: ", "aclrtProcessReport"}));
    uint64_t left = 7;
    EXPECT_TRUE(IsOk(aclFinalizeReference(&left)));
    EXPECT_EQ(left, 1U);
    EXPECT_TRUE(IsError(kUnsupported, aclFinalizeReference(&left), {"aclFinalizeReference: "}));
    EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    EXPECT_EQ(ran, 1);
    other.join();
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
}

TEST_F(TeardownWaitTest, DeviceAndRuntimeStayWhileTheyWaitForACallbackOfTheCallingThread) {
    const aclrtStream stream = support::MakeStream().Release();
    int ran = 0;
    ASSERT_NO_FATAL_FAILURE(WaitForCallback(stream, &ran));
    uint64_t left = 7;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetDevice(0),
                        {"aclrtResetDevice: ", "aclrtProcessReport"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetDeviceForce(0),
                        {"aclrtResetDeviceForce: ", "aclrtProcessReport"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalizeReference(&left),
                        {"aclFinalizeReference: ", "aclrtProcessReport"}));
    EXPECT_EQ(left, 7U);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalize(),
                        {"aclFinalize: ", "aclrtProcessReport"}));
    GoOn(stream, ran);
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream)));
}

TEST_F(TeardownWaitTest, AContextStaysToo) {
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const aclrtStream stream = support::MakeStream().Release();
    int ran = 0;
    ASSERT_NO_FATAL_FAILURE(WaitForCallback(stream, &ran));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyContext(context),
                        {"aclrtDestroyContext: ", "aclrtProcessReport"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStream(stream),
                        {"aclrtDestroyStream: ", "aclrtProcessReport"}));
    // There may be no memory for the words of a refusal.
    AdvStepFaultCounts counts{};
    uint64_t allocation = 0;
    do {
        ASSERT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, ++allocation, 1)));
        const int code = aclrtDestroyContext(context);
        ASSERT_TRUE(IsOk(advstepReadFaultCounts(&counts)));
        ASSERT_EQ(code, counts.failedAllocations > 0 ? ACL_ERROR_BAD_ALLOC
                                                     : ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
            << "allocation " << allocation;
    } while (counts.failedAllocations > 0);
    EXPECT_GT(allocation, 1U);
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    GoOn(stream, ran);
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(stream)));
}

// The callback of another thread, which a reset waits for, may not wait for the reset.
TEST_F(TeardownWaitTest, ACallbackOfAnotherThreadIsToldThatTheDeviceEnds) {
    const aclrtStream stream = support::MakeStream().Release();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    const support::Signal subscribed;
    const support::Signal launched;
    std::thread other([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream)));
        subscribed.Set();
        EXPECT_TRUE(launched.Wait());
        EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    });
    ASSERT_TRUE(subscribed.Wait());
    EXPECT_TRUE(IsOk(aclrtLaunchCallback(
        [](void*) {
            EXPECT_TRUE(support::Eventually(
                [] { return aclrtSetDevice(0) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT; }));
            EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
            EXPECT_EQ(aclFinalize(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
        },
        nullptr, ACL_CALLBACK_BLOCK, stream)));
    launched.Set();
    EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    other.join();
}

TEST_F(TeardownWaitTest, AnAbortDoesNotEndTheWaitOfAReset) {
    const aclrtStream aborted = support::MakeStream().Release();
    aclrtContext other = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&other, 0)));
    const aclrtStream slow = support::MakeStream().Release();
    const support::HostGate gate(slow);
    ASSERT_TRUE(IsOk(recorder_.Mark(slow, 1)));

    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const support::Signal over;
    ASSERT_TRUE(IsOk(support::Enqueue(aborted, [aborted, over] {
        // This is what it answers while a reset of the device waits for this function.
        EXPECT_TRUE(support::Eventually(
            [] { return aclrtSetDevice(0) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT; }));
        EXPECT_TRUE(IsOk(aclrtStreamAbort(aborted)));
        over.Set();
    })));
    ASSERT_TRUE(IsOk(recorder_.Mark(aborted, 2)));
    std::thread opener([&] {
        EXPECT_TRUE(over.Wait());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1}) << "of the other context, which is done";
    opener.join();
}

}  // namespace
