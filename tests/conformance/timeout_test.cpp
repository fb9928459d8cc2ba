// SPDX-License-Identifier: Apache-2.0
// Synchronisations with a limit.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stream_status.h"
#include "support/waits.h"

namespace {

using namespace support;

class TimeoutTest : public support::DeviceTest {};

TEST_F(TimeoutTest, BadTimeoutsAreRefused) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    for (const int timeout : {0, -2, INT32_MIN}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), timeout),
                            {"aclrtSynchronizeStreamWithTimeout: ", "timeout"}, {timeout}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(timeout),
                            {"aclrtSynchronizeDeviceWithTimeout: ", "timeout"}, {timeout}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtSynchronizeEventWithTimeout(event.Get(), timeout),
                            {"aclrtSynchronizeEventWithTimeout: ", "timeout"}, {timeout}));
    }
}

TEST_F(TimeoutTest, WaitsForTheEnd) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    int mark = 0;
    std::vector<int> expected;
    for (const int timeout : {-1, kLong, INT32_MAX}) {
        for (int kind = 0; kind < 4; ++kind) {
            SCOPED_TRACE(testing::Message() << timeout << " " << kind);
            const aclrtStream target = kind == 3 ? nullptr : stream.Get();
            ASSERT_TRUE(IsOk(recorder.Mark(target, mark)));
            ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), target)));
            EXPECT_TRUE(IsOk(kind == 1   ? aclrtSynchronizeDeviceWithTimeout(timeout)
                             : kind == 2 ? aclrtSynchronizeEventWithTimeout(event.Get(), timeout)
                                         : aclrtSynchronizeStreamWithTimeout(target, timeout)));
            expected.push_back(mark++);
            EXPECT_EQ(recorder.Values(), expected);
        }
    }
}

TEST_F(TimeoutTest, ExpiresAndTheWorkGoesOn) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    const std::string is = " is not complete after the timeout of " + std::to_string(kShort) +
                           " ms; expected it to complete before";
    const auto named = [&](const char* what, const void* handle) {
        std::ostringstream words;
        words << what << handle << is;
        return words.str();
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort),
                            {named("aclrtSynchronizeStreamWithTimeout: stream ", stream.Get())}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeDeviceWithTimeout(kShort),
                            {"aclrtSynchronizeDeviceWithTimeout: the work of the device" + is}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                            aclrtSynchronizeEventWithTimeout(event.Get(), kShort),
                            {named("aclrtSynchronizeEventWithTimeout: event ", event.Get())}));
    }
    EXPECT_EQ(QueryStream(stream.Get()), ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(TimeoutTest, ExpiresOnTheDefaultStream) {
    const HostGate gate(nullptr);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(nullptr, kShort)));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStreamWithTimeout(nullptr, kLong)));
}

// The front of the stream is a wait for another stream.
TEST_F(TimeoutTest, ExpiresBehindAWaitForAnotherStream) {
    const Stream held = MakeStream();
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const HostGate gate(held.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStreamWithTimeout(stream.Get(), kLong)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(TimeoutTest, AnUnrecordedEventIsNoWait) {
    const Event event = MakeEvent();
    EXPECT_TRUE(IsOk(aclrtSynchronizeEventWithTimeout(event.Get(), kShort)));
}

TEST_F(TimeoutTest, WorkBehindTheRecordIsNotWaitedFor) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    const HostGate gate(stream.Get());
    EXPECT_TRUE(IsOk(aclrtSynchronizeEventWithTimeout(event.Get(), kLong)));
    gate.Open();
}

// A host function never runs on a thread that synchronises with a limit, whatever the limit.
TEST_F(TimeoutTest, HostFunctionsRunElsewhere) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const auto mine = std::make_shared<std::atomic<int>>(0);
    const std::thread::id caller = std::this_thread::get_id();
    for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(),
                                          [=] { *mine += std::this_thread::get_id() == caller; })));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
        const int timeout = i % 2 == 0 ? -1 : kLong;
        ASSERT_TRUE(IsOk(i % 3 == 0   ? aclrtSynchronizeStreamWithTimeout(stream.Get(), timeout)
                         : i % 3 == 1 ? aclrtSynchronizeDeviceWithTimeout(timeout)
                                      : aclrtSynchronizeEventWithTimeout(event.Get(), timeout)));
    }
    EXPECT_EQ(*mine, 0);
}

// Makes every start of a thread fail: no machine has addresses for such a stack.
class NoNewThreads {
 public:
    NoNewThreads() {
        EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
        pthread_attr_t attributes;
        EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
        EXPECT_EQ(pthread_attr_setstacksize(&attributes, size_t{1} << 60), 0);
        EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
        EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
    }
    ~NoNewThreads() {
        EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
        EXPECT_EQ(pthread_attr_destroy(&before_), 0);
    }
    NoNewThreads(const NoNewThreads&) = delete;
    NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
    pthread_attr_t before_{};
};

// Then nobody else would ever run a host function or a long fill.
TEST_F(TimeoutTest, ACallWithoutAnEndRunsAllWorkIfNoThreadCanBeStarted) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_LOG", "off"}}));
    constexpr size_t kBytes = size_t{1} << 20;
    const support::DeviceBuffer memory(kBytes);
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const NoNewThreads none;
    for (int kind = 0; kind < 3; ++kind) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), kind)));
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), kBytes, kind, kBytes, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
        EXPECT_TRUE(IsOk(kind == 0   ? aclrtSynchronizeStreamWithTimeout(stream.Get(), -1)
                         : kind == 1 ? aclrtSynchronizeDeviceWithTimeout(-1)
                                     : aclrtSynchronizeEventWithTimeout(event.Get(), -1)));
    }
    EXPECT_EQ(recorder.Values(), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(memory.Download<char>(), std::vector<char>(kBytes, 2));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 3)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// The only thread is taken up by a host function that waits for the work.
TEST_F(TimeoutTest, ACallWithoutAnEndRunsAllWorkIfTheOnlyThreadWaits) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_LOG", "off"}}));
    const Stream held = MakeStream();
    const Stream stream = MakeStream();
    const support::DeviceBuffer memory(8);
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 8, 0, 8, stream.Get())));
    ASSERT_TRUE(support::Eventually([&] {
        return QueryStream(stream.Get()) == ACL_STREAM_STATUS_COMPLETE;
    }));  // by the first thread
    const NoNewThreads none;
    const HostGate gate(held.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStreamWithTimeout(stream.Get(), -1)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(TimeoutTest, FailuresAreReportedOnce) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const auto fail = [&] {
        EXPECT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    };
    fail();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStreamWithTimeout(stream.Get(), kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStreamWithTimeout(stream.Get(), kLong)));
    fail();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeDeviceWithTimeout(kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDeviceWithTimeout(kLong)));
    fail();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeEventWithTimeout(event.Get(), kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEventWithTimeout(event.Get(), kLong)));
}

// An expiry reports nothing, so the failure is still there.
TEST_F(TimeoutTest, AnExpiryKeepsTheFailure) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    gate.Open();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(TimeoutTest, AHostFunctionMayNotWaitForItself) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const aclrtStream handle = stream.Get();
    const aclrtEvent mark = event.Get();
    const support::Signal queued;
    const auto codes = std::make_shared<std::vector<int>>();
    ASSERT_TRUE(IsOk(support::Enqueue(handle, [=] {
        EXPECT_TRUE(queued.Wait());
        for (const int timeout : {-1, kLong}) {
            codes->push_back(aclrtSynchronizeStreamWithTimeout(handle, timeout));
            codes->push_back(aclrtSynchronizeDeviceWithTimeout(timeout));
            codes->push_back(aclrtSynchronizeEventWithTimeout(mark, timeout));
        }
    })));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(mark, handle)));
    queued.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(handle)));
    EXPECT_EQ(*codes, std::vector<int>(6, ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
}

}  // namespace
