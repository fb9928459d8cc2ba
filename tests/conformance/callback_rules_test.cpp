// SPDX-License-Identifier: Apache-2.0
// Subscriptions and callbacks: every code, and what ends them.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/callback_fixture.h"

namespace conformance {
namespace {

// Codes.
TEST_F(CallbackTest, AStreamIsSubscribedOnce) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(Me(), stream.Get()),
                        {"aclrtSubscribeReport: "}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(Me() + 1, stream.Get())));
    Unsubscribe(stream);
    Subscribe(stream);
    Unsubscribe(stream);
}

TEST_F(CallbackTest, AThreadIsNeeded) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSubscribeReport(0, stream.Get()),
                        {"aclrtSubscribeReport: threadId is 0"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSubscribeHostFunc(0, stream.Get()),
                        {"aclrtSubscribeHostFunc: hostFuncThreadId is 0"}));
    Subscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                        aclrtUnSubscribeHostFunc(Me() + 1, stream.Get()),
                        {"hostFuncThreadId is "}));
    Unsubscribe(stream);
}

TEST_F(CallbackTest, UnsubscribeNeedsTheSubscription) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtUnSubscribeReport(Me(), stream.Get()),
                        {"aclrtUnSubscribeReport: "}));
    Subscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                        aclrtUnSubscribeReport(Me() + 1, stream.Get()),
                        {"aclrtUnSubscribeReport: "}));
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong))) << "the subscription is as before";
    Unsubscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtUnSubscribeReport(Me(), stream.Get())));
}

TEST_F(CallbackTest, LaunchRefusesBadArguments) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG,
                        aclrtLaunchCallback(&Nothing, nullptr, kBlock, stream.Get()),
                        {"aclrtLaunchCallback: "}));
    Subscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchCallback(nullptr, nullptr, kBlock, stream.Get()),
                        {"aclrtLaunchCallback: ", "fn"}));
    for (const int type : {-1, 2, 1 << 20}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID,
                    aclrtLaunchCallback(&Nothing, nullptr,
                                        static_cast<aclrtCallbackBlockType>(type), stream.Get()),
                    {"aclrtLaunchCallback: ", "blockType"}, {type}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)));
    Unsubscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG,
                        aclrtLaunchCallback(&Nothing, nullptr, kNoBlock, stream.Get())));
}

TEST_F(CallbackTest, ProcessReportRefusesBadTimeoutsAndThreads) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort),
                        {"aclrtProcessReport: "}));
    Subscribe(stream);
    for (const int timeout : {0, -2, INT32_MIN}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtProcessReport(timeout),
                            {"aclrtProcessReport: ", "timeout"}, {timeout}));
    }
    OnAnotherThread(
        [] { EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort))); });
    Unsubscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort)));
}

TEST_F(CallbackTest, AThrowingCallbackCountsAsRun) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const auto throws = [&](std::function<void()> callback, const char* words, int mark) {
        ASSERT_TRUE(IsOk(Launch(std::move(callback), kBlock, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), mark)));
        EXPECT_TRUE(IsError(ACL_ERROR_INTERNAL_ERROR, aclrtProcessReport(kLong),
                            {"aclrtProcessReport: the callback threw an exception: ", words}));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)));
    };
    throws([] { throw std::runtime_error("thrown by a test"); }, "thrown by a test", 1);
    throws([] { throw std::bad_alloc(); }, "bad_alloc", 2);
    throws([] { throw 5; }, "not a std::exception", 3);
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3}));
    Unsubscribe(stream);
}

// The thread that has to run the callback may not wait for the stream.
TEST_F(CallbackTest, TheSubscribedThreadMayNotWait) {
    const Stream stream = MakeStream();
    const Stream behind = MakeStream();
    const support::Event event = support::MakeEvent();
    Subscribe(stream);
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(behind.Get(), event.Get())));
    constexpr int kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_TRUE(
        IsError(kRefused, aclrtSynchronizeStream(stream.Get()), {"aclrtSynchronizeStream: "}));
    EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeStreamWithTimeout(stream.Get(), -1)));
    EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeDevice()));
    EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeStream(behind.Get())));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(behind.Get())));
    Unsubscribe(stream);
}

// The end of a subscription.
TEST_F(CallbackTest, UnsubscribeDropsAndReleases) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    ASSERT_TRUE(IsOk(LaunchMark(1, kNoBlock, stream)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    Unsubscribe(stream);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    Subscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)))
        << "it is gone for the next subscription too";
    Unsubscribe(stream);
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

// A callback whose turn has come, and that nobody will run: the stream goes on.
TEST_F(CallbackTest, UnsubscribeReleasesAStreamThatStandsAtACallback) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const support::Event before = support::MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(before.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
    // Synchronising stops at the callback, whose turn has then come.
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtSynchronizeStream(stream.Get())));
    Unsubscribe(stream);
    EXPECT_TRUE(recorder_.WaitFor(1)) << "without a synchronisation";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{2});
}

TEST_F(CallbackTest, ATurnWithoutASubscriptionIsAFailure) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
        Unsubscribe(stream);
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{2});
}

TEST_F(CallbackTest, UnsubscribeEndsAWaitingProcessReport) {
    const Stream stream = MakeStream();
    std::atomic<uint64_t> id{0};
    const support::Signal subscribed;
    std::thread server([&] {
        id = Me();
        EXPECT_TRUE(subscribed.Wait());
        EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(-1)));
    });
    ASSERT_TRUE(support::Eventually([&] { return id != 0; }));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(id, stream.Get())));
    subscribed.Set();
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(id, stream.Get())));
    server.join();
}

TEST_F(CallbackTest, ADestroyedStreamIsNoSubscriptionAnyMore) {
    Stream stream = MakeStream();
    Subscribe(stream);
    ASSERT_TRUE(IsOk(LaunchMark(1, kNoBlock, stream)));
    EXPECT_TRUE(IsOk(aclrtDestroyStream(stream.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort)));
    const Stream next = MakeStream();  // perhaps at the same place
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG,
                        aclrtLaunchCallback(&Nothing, nullptr, kBlock, next.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

TEST_F(CallbackTest, SubscriptionsEndWithTheRuntime) {
    {
        Stream stream = MakeStream();
        Subscribe(stream);
        stream.Release();
    }
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(kShort)));
}

TEST_F(CallbackTest, AnAbortDropsCallbacks) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)));
    Unsubscribe(stream);
}

}  // namespace
}  // namespace conformance
