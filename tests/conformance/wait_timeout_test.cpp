// SPDX-License-Identifier: Apache-2.0
// Waits with a limit inside streams, for events and for notifies. Their unit is the second.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/waits.h"

namespace {

using conformance::MakeNotify;
using conformance::Notify;
using namespace support;

class WaitTimeoutTest : public support::DeviceTest {
 protected:
    // An event that is complete when the gate of its stream is opened.
    struct HeldEvent {
        Stream stream = MakeStream();
        HostGate gate{stream.Get()};
        Event event = MakeEvent();
        HeldEvent() {
            EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
            // Else who waits for the event might run the gate.
            EXPECT_TRUE(gate.WaitEntered());
        }
    };
};

// The stream stands at a wait that expires. What is queued behind it is not run.
void ExpectExpiryStops(const Stream& stream, const Recorder& recorder) {
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
}

TEST_F(WaitTimeoutTest, ANegativeTimeoutIsRefused) {
    const Stream stream = MakeStream();
    const HeldEvent held;
    for (const int timeout : {-1, -2, INT32_MIN}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID,
                    aclrtStreamWaitEventWithTimeout(stream.Get(), held.event.Get(), timeout),
                    {"aclrtStreamWaitEventWithTimeout: ", "timeout"}, {timeout}));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "nothing was queued";
}

TEST_F(WaitTimeoutTest, CodesAreThoseOfTheWaitWithout) {
    const Stream stream = MakeStream();
    const Event unrecorded = MakeEvent();
    const Event ex = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    const Event timing = support::MakeEventWithFlag(ACL_EVENT_TIME_LINE);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtStreamWaitEventWithTimeout(stream.Get(), unrecorded.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), ex.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(timing.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        aclrtStreamWaitEventWithTimeout(stream.Get(), timing.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(WaitTimeoutTest, HoldsUntilTheRecord) {
    for (const int timeout : {0, 1000, INT32_MAX}) {
        SCOPED_TRACE(timeout);
        const Stream stream = MakeStream();
        const HeldEvent held;
        const Recorder recorder;
        ASSERT_TRUE(IsOk(recorder.Mark(held.stream.Get(), 9)));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), held.event.Get(), timeout)));
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
        EXPECT_EQ(recorder.Values(), std::vector<int>{});
        held.gate.Open();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
}

// Nobody has to wait for the stream.
TEST_F(WaitTimeoutTest, ExpiresAndFailsAndLaterWorkRuns) {
    const Stream stream = MakeStream();
    const HeldEvent held;
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), held.event.Get(), 1)));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(recorder.WaitFor(1));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtSynchronizeStream: "}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "reported once";
}

TEST_F(WaitTimeoutTest, ExpiresForWhoSynchronises) {
    const Stream stream = MakeStream();
    const HeldEvent held;
    ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), held.event.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get())));
}

TEST_F(WaitTimeoutTest, ExpiryStopsTheStreamInModeStop) {
    const Stream stream = MakeStream();
    const HeldEvent held;
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), held.event.Get(), 1)));
    ExpectExpiryStops(stream, recorder);
}

// The seconds count from when the wait is the oldest work. The expiry of a third stream is the
// clock: it shows that more than the wait's second has gone by while its stream was held.
TEST_F(WaitTimeoutTest, CountsFromWhenItIsTheOldestWork) {
    const Stream stream = MakeStream();
    const Stream clock = MakeStream();
    const HeldEvent late;
    const HeldEvent never;
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(stream.Get(), late.event.Get(), 1)));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(clock.Get(), never.event.Get(), 1)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(clock.Get())));
        late.gate.Open();
        EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(late.event.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// aclrtSetOpWaitTimeout.
TEST_F(WaitTimeoutTest, TheDefaultIsForLaterWaitsOfAllThreads) {
    const Stream before = MakeStream();
    const Stream after = MakeStream();
    const Stream again = MakeStream();
    const HeldEvent held;
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(before.Get(), held.event.Get())));
    std::thread([] { EXPECT_TRUE(IsOk(aclrtSetOpWaitTimeout(1))); }).join();
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(after.Get(), held.event.Get())));
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(0)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(again.Get(), held.event.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(after.Get())));
    for (const Stream* stream : {&before, &again}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream->Get(), kShort)));
    }
    held.gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(before.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(again.Get())));
}

TEST_F(WaitTimeoutTest, TheDefaultIsNotForWaitsWithTheirOwn) {
    const Stream forEver = MakeStream();
    const Stream clock = MakeStream();
    const HeldEvent held;
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(1)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(forEver.Get(), held.event.Get(), 0)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(clock.Get(), held.event.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(clock.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(forEver.Get(), kShort)));
    held.gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(forEver.Get())));
}

TEST_F(WaitTimeoutTest, TheDefaultEndsWithTheRuntime) {
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(1)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    const Stream stream = MakeStream();
    const Stream clock = MakeStream();
    const HeldEvent held;
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), held.event.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(clock.Get(), held.event.Get(), 2)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(clock.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    held.gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(WaitTimeoutTest, TheDefaultTakesEveryValue) {
    const Stream stream = MakeStream();
    const HeldEvent held;
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(UINT32_MAX)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), held.event.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    held.gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

class NotifyTimeoutTest : public support::DeviceTest {
 protected:
    static aclError Record(const Notify& notify, const Stream& stream) {
        return aclrtRecordNotify(notify.Get(), stream.Get());
    }
    static aclError NotifyWait(const Notify& notify, const Stream& stream, uint32_t timeout) {
        return aclrtWaitAndResetNotify(notify.Get(), stream.Get(), timeout);
    }

    Recorder recorder_;
};

TEST_F(NotifyTimeoutTest, ExpiresFailsAndTakesNothing) {
    const Stream stream = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(NotifyWait(notify, stream, 1)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
    EXPECT_TRUE(recorder_.WaitFor(1)) << "without a synchronisation";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(Record(notify, stream)));
    ASSERT_TRUE(IsOk(NotifyWait(notify, stream, 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "the flag is for the next wait";
}

TEST_F(NotifyTimeoutTest, ExpiryStopsTheStreamInModeStop) {
    const Stream stream = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(NotifyWait(notify, stream, 1)));
    ExpectExpiryStops(stream, recorder_);
}

TEST_F(NotifyTimeoutTest, LongTimeoutsAndZeroDoNotExpire) {
    const Stream clock = MakeStream();
    const Notify never = MakeNotify();
    const Notify notify = MakeNotify();
    std::vector<Stream> streams;
    for (const uint32_t timeout : {0U, 1000U, UINT32_MAX}) {
        streams.push_back(MakeStream());
        ASSERT_TRUE(IsOk(NotifyWait(notify, streams.back(), timeout)));
    }
    // aclrtSetOpWaitTimeout is for events.
    ASSERT_TRUE(IsOk(aclrtSetOpWaitTimeout(1)));
    streams.push_back(MakeStream());
    ASSERT_TRUE(IsOk(NotifyWait(notify, streams.back(), 0)));
    ASSERT_TRUE(IsOk(NotifyWait(never, clock, 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(clock.Get())));
    for (size_t i = 0; i < streams.size(); ++i) {
        ASSERT_TRUE(IsOk(Record(notify, clock)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(clock.Get())));
        // One more of the streams comes free.
        EXPECT_TRUE(support::Eventually([&] {
            size_t free = 0;
            for (const Stream& stream : streams) {
                aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
                EXPECT_EQ(aclrtStreamQuery(stream.Get(), &status), ACL_SUCCESS);
                free += status == ACL_STREAM_STATUS_COMPLETE ? 1 : 0;
            }
            return free == i + 1;
        }));
    }
    for (const Stream& stream : streams) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
}

}  // namespace
