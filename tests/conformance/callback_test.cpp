// SPDX-License-Identifier: Apache-2.0
// Callbacks that a subscribed thread runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
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

}  // namespace
}  // namespace conformance
