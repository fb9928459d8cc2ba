// SPDX-License-Identifier: Apache-2.0
// Callbacks that a subscribed thread runs: what they do, every code, and what ends them.
#include <gtest/gtest.h>

#include <algorithm>
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

TEST_F(CallbackTest, RunsInProcessReport) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const std::thread::id me = std::this_thread::get_id();
    std::thread::id ran;
    ASSERT_TRUE(IsOk(Launch([&] { ran = std::this_thread::get_id(); }, kBlock, stream)));
    EXPECT_EQ(ran, std::thread::id());
    EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    EXPECT_EQ(ran, me);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    Unsubscribe(stream);
}

TEST_F(CallbackTest, UserDataIsHandedOverAndMayBeNull) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    int value = 0;
    static bool wasNull = false;
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* data) { *static_cast<int*>(data) = 42; }, &value,
                                         kNoBlock, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* data) { wasNull = data == nullptr; }, nullptr,
                                         kNoBlock, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_EQ(value, 42);
    EXPECT_TRUE(wasNull);
    Unsubscribe(stream);
}

TEST_F(CallbackTest, OneAtATimeInStreamOrder) {
    for (const auto type : {kBlock, kNoBlock}) {
        const Stream stream = MakeStream();
        const size_t before = recorder_.Values().size();
        Subscribe(stream);
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(IsOk(LaunchMark(i, type, stream)));
        }
        for (size_t i = 1; i <= 20; ++i) {
            ASSERT_TRUE(IsOk(aclrtProcessReport(kLong)));
            ASSERT_EQ(recorder_.Values().size(), before + i);
            EXPECT_EQ(recorder_.Values().back(), static_cast<int>(i) - 1);
        }
        EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)));
        Unsubscribe(stream);
    }
}

TEST_F(CallbackTest, ComesAfterEarlierWork) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(LaunchMark(1, kNoBlock, stream)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort), {"aclrtProcessReport: "}));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    Unsubscribe(stream);
}

TEST_F(CallbackTest, BlockHoldsLaterWork) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
    OnAnotherThread([&] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    });
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(recorder_.WaitFor(2)) << "without a synchronisation";
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
    Unsubscribe(stream);
}

TEST_F(CallbackTest, NoBlockDoesNot) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    ASSERT_TRUE(IsOk(LaunchMark(1, kNoBlock, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{2});
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{2, 1}));
    Unsubscribe(stream);
}

TEST_F(CallbackTest, AThreadServesSeveralStreams) {
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) {
        streams.push_back(MakeStream());
        Subscribe(streams.back());
        ASSERT_TRUE(IsOk(LaunchMark(i, kBlock, streams.back())));
    }
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(IsOk(aclrtProcessReport(kLong)));
    }
    std::vector<int> values = recorder_.Values();
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3}));
    for (const Stream& stream : streams) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        Unsubscribe(stream);
    }
}

TEST_F(CallbackTest, TheDefaultStreamIsOneOfThem) {
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(Me(), nullptr)));
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, Stream())));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(Me(), nullptr)));
}

// The usual arrangement: a thread that only serves reports, subscribed by somebody else.
TEST_F(CallbackTest, AThreadOfItsOwn) {
    const Stream stream = MakeStream();
    std::atomic<uint64_t> id{0};
    const support::Signal subscribed;
    constexpr int kCallbacks = 50;
    std::thread server([&] {
        id = Me();
        EXPECT_TRUE(subscribed.Wait());
        for (int i = 0; i < kCallbacks; ++i) {
            EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
        }
    });
    ASSERT_TRUE(support::Eventually([&] { return id != 0; }));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(id, stream.Get())));
    subscribed.Set();
    std::vector<int> expected;
    for (int i = 0; i < 2 * kCallbacks; i += 2) {
        ASSERT_TRUE(IsOk(LaunchMark(i, kBlock, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), i + 1)));
        expected.insert(expected.end(), {i, i + 1});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), expected);
    server.join();
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(id, stream.Get())));
}

TEST_F(CallbackTest, ACallbackMayUseTheRuntime) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    std::vector<int> codes;
    ASSERT_TRUE(IsOk(Launch(
        [&] {
            codes.push_back(recorder_.Mark(stream.Get(), 2));
            codes.push_back(LaunchMark(3, kBlock, stream));
        },
        kBlock, stream)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(codes, (std::vector<int>{ACL_SUCCESS, ACL_SUCCESS}));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{2, 3}));
    Unsubscribe(stream);
}

// Subscriptions and callbacks: every code, and what ends them.

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
