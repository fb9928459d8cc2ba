// SPDX-License-Identifier: Apache-2.0
// Events: timestamps, who still waits for them, identities.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::Event;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeEvent;
using support::MakeStream;
using support::Stream;

class TimestampTest : public support::DeviceTest {
 protected:
    static uint64_t TimeOf(const Event& event) {
        uint64_t time = 0;
        EXPECT_TRUE(IsOk(aclrtEventGetTimestamp(event.Get(), &time)));
        return time;
    }
};

TEST_F(TimestampTest, IsInMicroseconds) {
    const Event start = MakeEvent();
    const Event end = support::MakeEventExWithFlag(ACL_EVENT_TIME_LINE);
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(start.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(advstepDelayStream(stream.Get(), 20000)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(end.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    float ms = 0;
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&ms, start.Get(), end.Get())));
    EXPECT_GE(ms, 20.0F);
    EXPECT_NEAR(static_cast<double>(TimeOf(end) - TimeOf(start)), 1000.0 * ms, 2 + ms * 1e-3);
}

TEST_F(TimestampTest, IsOfTheLatestRecord) {
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    const uint64_t first = TimeOf(event);
    EXPECT_EQ(TimeOf(event), first);
    ASSERT_TRUE(IsOk(advstepDelayStream(nullptr, 2000)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_GE(TimeOf(event), first + 1999);
}

TEST_F(TimestampTest, RefusesWhatHasNone) {
    uint64_t time = 7777;
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventGetTimestamp(event.Get(), &time),
                        {"aclrtEventGetTimestamp: ", "event", "record"}));
    const Event untimed = support::MakeEventWithFlag(ACL_EVENT_SYNC);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventGetTimestamp(untimed.Get(), &time)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(untimed.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(untimed.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventGetTimestamp(untimed.Get(), &time), {"ACL_EVENT_TIME_LINE"}));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventGetTimestamp(event.Get(), &time), {"complete"}));
    EXPECT_EQ(time, 7777U);
}

TEST_F(TimestampTest, AResetEventHasNone) {
    const Event event = support::MakeEventWithFlag(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_GT(TimeOf(event), 0U);
    ASSERT_TRUE(IsOk(aclrtResetEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    uint64_t time = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtEventGetTimestamp(event.Get(), &time)));
}

class WaitStatusTest : public support::DeviceTest {
 protected:
    static aclrtEventWaitStatus StatusOf(const Event& event) {
        aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
        EXPECT_TRUE(IsOk(aclrtQueryEventWaitStatus(event.Get(), &status)));
        return status;
    }
};

TEST_F(WaitStatusTest, IsCompleteWithoutWaits) {
    const Event event = MakeEvent();
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE) << "a record is no wait";
}

TEST_F(WaitStatusTest, IsReadyWhenEveryStreamHasPassed) {
    for (const bool withFlag : {false, true}) {
        const Event event = withFlag ? support::MakeEventWithFlag(ACL_EVENT_SYNC) : MakeEvent();
        const Stream recorded = MakeStream();
        const Stream a = MakeStream();
        const Stream b = MakeStream();
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), recorded.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
        const HostGate gateA(a.Get());
        const HostGate gateB(b.Get());
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(a.Get(), event.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(b.Get(), event.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(b.Get(), event.Get())));
        EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_NOT_READY)
            << "the event is complete, the streams are not there yet";
        gateA.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(a.Get())));
        EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
        gateB.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(b.Get())));
        EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
    }
}

TEST_F(WaitStatusTest, LooksAtTheWaitAndNotAtWhatFollows) {
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(WaitStatusTest, ALaterRecordDoesNotEndAWait) {
    const Event event = MakeEvent();
    const Stream slow = MakeStream();
    const Stream waiting = MakeStream();
    const HostGate gate(slow.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), slow.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(waiting.Get(), event.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(waiting.Get())));
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(WaitStatusTest, ADroppedWaitIsOver) {
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtDestroyStreamForce(stream.Release())));
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(WaitStatusTest, ANewEventInTheSamePlaceHasNoWaits) {
    const Stream recorded = MakeStream();
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    for (int i = 0; i < 20; ++i) {
        const Event event = MakeEvent();
        ASSERT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), recorded.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
        ASSERT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
    }
}

TEST_F(WaitStatusTest, RefusesEventsOfExWithFlag) {
    const Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        aclrtQueryEventWaitStatus(event.Get(), &status),
                        {"aclrtQueryEventWaitStatus: ", "event"}));
    EXPECT_EQ(status, ACL_EVENT_WAIT_STATUS_RESERVED);
}

TEST_F(WaitStatusTest, QueriesMeetWaitsOfOtherThreads) {
    const Event event = MakeEvent();
    const aclrtContext context = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const Stream stream = MakeStream();
            for (int round = 0; round < 200; ++round) {
                ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
                StatusOf(event);
            }
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(StatusOf(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

class EventIdTest : public support::DeviceTest {};

TEST_F(EventIdTest, NoTwoLiveEventsHaveOneId) {
    std::vector<Event> events;
    std::set<uint32_t> ids;
    for (int i = 0; i < 100; ++i) {
        events.push_back(i % 2 == 0 ? MakeEvent() : support::MakeEventExWithFlag(ACL_EVENT_SYNC));
        uint32_t id = 0, again = 1;
        ASSERT_TRUE(IsOk(aclrtGetEventId(events.back().Get(), &id)));
        ASSERT_TRUE(IsOk(aclrtGetEventId(events.back().Get(), &again)));
        EXPECT_EQ(id, again);
        EXPECT_TRUE(ids.insert(id).second) << id;
    }
}

}  // namespace
