// SPDX-License-Identifier: Apache-2.0
// Events between streams: waits, repeated records, reset in stream order, destruction.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
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
using support::Recorder;
using support::Stream;

class EventOrderTest : public support::DeviceTest {
 protected:
    static bool IsComplete(const Event& event) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
        return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
    // By then a stream that is not held would have run its first task: a later one has.
    static void RunElsewhere() {
        const Stream stream = MakeStream();
        const Recorder recorder;
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
            ASSERT_TRUE(recorder.WaitFor(i + 1));
        }
    }
};

TEST_F(EventOrderTest, WaitHoldsTheOtherStream) {
    const Recorder recorder;
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Event event = MakeEvent();
    const HostGate gate(first.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(first.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), first.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(second.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(second.Get(), 2)));
    ASSERT_NO_FATAL_FAILURE(RunElsewhere());
    EXPECT_TRUE(recorder.Values().empty());
    gate.Open();
    ASSERT_TRUE(recorder.WaitFor(2)) << "no thread synchronises";
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
}

TEST_F(EventOrderTest, SynchronisationGoesThroughWaits) {
    const Recorder recorder;
    std::vector<Stream> streams;
    std::vector<Event> events;
    for (int i = 0; i < 6; ++i) {
        streams.push_back(MakeStream());
        events.push_back(MakeEvent());
        if (i > 0) {
            ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(streams[i].Get(), events[i - 1].Get())));
        }
        ASSERT_TRUE(IsOk(recorder.Mark(streams[i].Get(), i)));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(events[i].Get(), streams[i].Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(streams.back().Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST_F(EventOrderTest, WaitOfOneDoesNotHoldTheRest) {
    const Recorder recorder;
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream third = MakeStream();
    const Event event = MakeEvent();
    const HostGate gate(first.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), first.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(second.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(second.Get(), 2)));
    ASSERT_TRUE(IsOk(recorder.Mark(third.Get(), 3)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(third.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{3});
}

TEST_F(EventOrderTest, WaitUsesTheRecordAtTheTimeOfTheCall) {
    const Recorder recorder;
    const Stream held = MakeStream();
    const Stream waiting = MakeStream();
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(waiting.Get(), event.Get())));
    const HostGate gate(held.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    EXPECT_FALSE(IsComplete(event)) << "recording again moves the event";
    ASSERT_TRUE(IsOk(recorder.Mark(waiting.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(waiting.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(EventOrderTest, LaterRecordDoesNotEndAnEarlierWait) {
    const Recorder recorder;
    const Stream held = MakeStream();
    const Stream waiting = MakeStream();
    const Event event = MakeEvent();
    const HostGate gate(held.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(waiting.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(waiting.Get(), 2)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsComplete(event));
    ASSERT_NO_FATAL_FAILURE(RunElsewhere());
    recorder.MarkNow(1);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(waiting.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
}

TEST_F(EventOrderTest, UnrecordedExEventIsNoWait) {
    const Recorder recorder;
    const Stream held = MakeStream();
    const Stream waiting = MakeStream();
    const Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(waiting.Get(), event.Get())));
    const HostGate gate(held.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(waiting.Get(), 1)));
    EXPECT_TRUE(recorder.WaitFor(1));
}

TEST_F(EventOrderTest, WaitInTheRecordingStreamIsFree) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(EventOrderTest, ResetIsInStreamOrder) {
    const Stream stream = MakeStream();
    const Event event = support::MakeEventWithFlag(ACL_EVENT_SYNC);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtResetEvent(event.Get(), stream.Get())));
        EXPECT_TRUE(IsComplete(event)) << "the reset is still queued";
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_FALSE(IsComplete(event));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtStreamWaitEvent(stream.Get(), event.Get()),
                        {"event"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsComplete(event));
}

TEST_F(EventOrderTest, WaitThenResetThenRecordRepeats) {
    const Recorder recorder;
    const Stream producer = MakeStream();
    const Stream consumer = MakeStream();
    const Event event = support::MakeEventWithFlag(ACL_EVENT_SYNC);
    std::vector<int> expected;
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(producer.Get(), 2 * i)));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), producer.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(consumer.Get(), event.Get())));
        ASSERT_TRUE(IsOk(aclrtResetEvent(event.Get(), consumer.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(consumer.Get(), 2 * i + 1)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(consumer.Get())));
        expected.push_back(2 * i);
        expected.push_back(2 * i + 1);
    }
    EXPECT_EQ(recorder.Values(), expected);
}

TEST_F(EventOrderTest, DestroyedWhilePendingKeepsItsMeaning) {
    const Recorder recorder;
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    Event event = MakeEvent();
    const aclrtEvent handle = event.Get();
    const HostGate gate(first.Get());
    ASSERT_TRUE(IsOk(recorder.Mark(first.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(handle, first.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(second.Get(), handle)));
    ASSERT_TRUE(IsOk(recorder.Mark(second.Get(), 2)));
    ASSERT_TRUE(IsOk(aclrtDestroyEvent(event.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(handle)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(handle)));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2}));
}

TEST_F(EventOrderTest, SynchronizeWaitsForWhatCameBefore) {
    const Recorder recorder;
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    std::thread opener([&] {
        recorder.MarkNow(0);
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    opener.join();
    EXPECT_EQ(recorder.Values(), (std::vector<int>{0, 1}));
}

TEST_F(EventOrderTest, SynchronizeDoesNotWaitForWhatCameAfter) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
}

// The waiting thread sleeps while a worker runs the first host function, and is woken by the
// record, not only when the worker has run what comes after.
TEST_F(EventOrderTest, SynchronizeReturnsWhileTheNextTaskBlocks) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    for (int round = 0; round < 20; ++round) {  // the thread may come too late to sleep
        HostGate before(stream.Get());
        ASSERT_TRUE(before.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
        HostGate after(stream.Get());
        const support::Signal begun, returned;
        std::thread waiter([&, context = support::CurrentContext()] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            begun.Set();
            EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
            returned.Set();
        });
        EXPECT_TRUE(begun.Wait());
        before.Open();
        EXPECT_TRUE(returned.Wait()) << "round " << round;
        after.Open();
        waiter.join();
        ASSERT_FALSE(HasFailure());
    }
}

TEST_F(EventOrderTest, SynchronizeReportsAnEarlierFailureOnce) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(EventOrderTest, SynchronizeLeavesALaterFailure) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(recorder.WaitFor(1));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
}

}  // namespace
