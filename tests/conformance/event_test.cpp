// SPDX-License-Identifier: Apache-2.0
// Events: how each kind is made and what it answers, times between two, waits between streams, and
// who still waits.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;

enum class Maker { kPlain, kWithFlag, kExWithFlag };

aclError Create(Maker maker, uint32_t flag, aclrtEvent* event) {
    switch (maker) {
        case Maker::kPlain:
            return aclrtCreateEvent(event);
        case Maker::kWithFlag:
            return aclrtCreateEventWithFlag(event, flag);
        default:
            return aclrtCreateEventExWithFlag(event, flag);
    }
}

aclrtEventRecordedStatus RecordedStatus(const Event& event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
    return status;
}

class FlagTest : public support::DeviceTest, public testing::WithParamInterface<Maker> {};

TEST_P(FlagTest, TakesSyncProgressAndTimeLine) {
    for (uint32_t flag = 1; flag < 16; ++flag) {
        if ((flag & 4U) != 0) {
            continue;
        }
        aclrtEvent event = nullptr;
        ASSERT_TRUE(IsOk(Create(GetParam(), flag, &event))) << flag;
        EXPECT_TRUE(IsOk(aclrtDestroyEvent(event)));
    }
}

TEST_P(FlagTest, RefusesZeroAndUnknownBits) {
    for (const uint32_t flag :
         {0U, 4U, ACL_EVENT_SYNC | 4U, 0x80U, 0x80000000U, ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL}) {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Create(GetParam(), flag, &event),
                            {"WithFlag: ", "flag"}))
            << flag;
        EXPECT_EQ(event, nullptr);
    }
}

TEST_P(FlagTest, RefusesWhatThisDeviceCannotDo) {
    for (const uint32_t flag :
         {ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_SYNC | ACL_EVENT_DEVICE_USE_ONLY}) {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Create(GetParam(), flag, &event),
                            {"WithFlag: ", "flag"}))
            << flag;
        EXPECT_EQ(event, nullptr);
    }
}

INSTANTIATE_TEST_SUITE_P(WithFlag, FlagTest, testing::Values(Maker::kWithFlag));
INSTANTIATE_TEST_SUITE_P(ExWithFlag, FlagTest, testing::Values(Maker::kExWithFlag));

// What an event of each kind answers.
struct KindCase {
    const char* name;
    Maker maker;
    uint32_t flag;
    bool timing;
    int wait;            // code of aclrtStreamWaitEvent once recorded
    int waitUnrecorded;  // and before
    int reset;           // code of aclrtResetEvent
    int query;           // code of aclrtQueryEvent
};

constexpr uint32_t kSync = ACL_EVENT_SYNC;
constexpr uint32_t kTime = ACL_EVENT_TIME_LINE;
constexpr uint32_t kProgress = ACL_EVENT_CAPTURE_STREAM_PROGRESS;
constexpr int kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
constexpr int kUnrecorded = ACL_ERROR_RT_PARAM_INVALID;

class KindTest : public support::DeviceTest, public testing::WithParamInterface<KindCase> {
 protected:
    static Event Make() {
        aclrtEvent event = nullptr;
        EXPECT_TRUE(IsOk(Create(GetParam().maker, GetParam().flag, &event)));
        return Event(event);
    }
    static bool IsEx() { return GetParam().maker == Maker::kExWithFlag; }
    static void ExpectCode(int code, int status) {
        if (code == ACL_SUCCESS) {
            EXPECT_TRUE(IsOk(status));
        } else {
            EXPECT_TRUE(IsError(code, status, {"event"}));
        }
    }
};

TEST_P(KindTest, StatusBeforeTheFirstRecord) {
    const Event event = Make();
    EXPECT_EQ(RecordedStatus(event),
              IsEx() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
}

TEST_P(KindTest, StatusWhilePendingAndAfter) {
    const Event event = Make();
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_EQ(RecordedStatus(event), ACL_EVENT_RECORDED_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_EQ(RecordedStatus(event), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_P(KindTest, OldQuery) {
    const Event event = Make();
    const Stream stream = MakeStream();
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
    ExpectCode(GetParam().query, aclrtQueryEvent(event.Get(), &status));
    if (GetParam().query != ACL_SUCCESS) {
        EXPECT_EQ(status, ACL_EVENT_STATUS_RESERVED);
        return;
    }
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsOk(aclrtQueryEvent(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtQueryEvent(event.Get(), &status)));
    EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
}

TEST_P(KindTest, Wait) {
    const Event event = Make();
    const Stream stream = MakeStream();
    ExpectCode(GetParam().waitUnrecorded, aclrtStreamWaitEvent(stream.Get(), event.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "the wait is none";
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ExpectCode(GetParam().wait, aclrtStreamWaitEvent(stream.Get(), event.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_P(KindTest, Reset) {
    const Event event = Make();
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ExpectCode(GetParam().reset, aclrtResetEvent(event.Get(), stream.Get()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(RecordedStatus(event), GetParam().reset == ACL_SUCCESS
                                         ? ACL_EVENT_RECORDED_STATUS_NOT_READY
                                         : ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_P(KindTest, ElapsedTime) {
    const Event start = Make();
    const Event end = Make();
    const Stream stream = MakeStream();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(start.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(end.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ExpectCode(GetParam().timing ? ACL_SUCCESS : ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
               aclrtEventElapsedTime(&ms, start.Get(), end.Get()));
    if (GetParam().timing) {
        EXPECT_GE(ms, 0);
        EXPECT_LT(ms, 30000);
    } else {
        EXPECT_EQ(ms, 77);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, KindTest,
    testing::Values(
        // name, maker, flag, timing, wait, unrecorded, reset, query
        KindCase{"Plain", Maker::kPlain, 0, true, 0, kUnrecorded, 0, 0},
        KindCase{"Sync", Maker::kWithFlag, kSync, false, 0, kUnrecorded, 0, 0},
        KindCase{"Both", Maker::kWithFlag, kSync | kTime, true, 0, kUnrecorded, 0, 0},
        KindCase{"TimeOnly", Maker::kWithFlag, kTime, true, kRefused, kRefused, kRefused, 0},
        KindCase{"Progress", Maker::kWithFlag, kProgress, false, kRefused, kRefused, kRefused, 0},
        KindCase{"ExSync", Maker::kExWithFlag, kSync, false, 0, 0, kRefused, kRefused},
        KindCase{"ExBoth", Maker::kExWithFlag, kSync | kTime, true, 0, 0, kRefused, kRefused},
        KindCase{"ExTime", Maker::kExWithFlag, kTime, true, 0, 0, kRefused, kRefused},
        KindCase{"ExProgress", Maker::kExWithFlag, kProgress, false, 0, 0, kRefused, kRefused}),
    support::CaseName());

class ElapsedTimeTest : public support::DeviceTest {};

TEST_F(ElapsedTimeTest, NeedsTwoRecords) {
    const Event recorded = support::MakeEvent();
    const Event unrecorded = support::MakeEvent();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(recorded.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR,
                        aclrtEventElapsedTime(&ms, recorded.Get(), unrecorded.Get()),
                        {"aclrtEventElapsedTime: ", "endEvent"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR,
                        aclrtEventElapsedTime(&ms, unrecorded.Get(), recorded.Get()),
                        {"aclrtEventElapsedTime: ", "startEvent"}));
    EXPECT_EQ(ms, 77);
}

TEST_F(ElapsedTimeTest, NeedsBothComplete) {
    const Stream stream = MakeStream();
    const Event start = support::MakeEvent();
    const Event end = support::MakeEvent();
    float ms = 77;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(start.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(end.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventElapsedTime(&ms, start.Get(), end.Get()), {"endEvent"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                        aclrtEventElapsedTime(&ms, end.Get(), start.Get()), {"startEvent"}));
    EXPECT_EQ(ms, 77);
}

TEST_F(ElapsedTimeTest, IsNegativeWhenTheEndCameFirst) {
    const Stream stream = MakeStream();
    const Event first = support::MakeEvent();
    const Event second = support::MakeEvent();
    const auto ran = std::make_shared<std::atomic<double>>(0);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(first.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [ran] {
        using Milliseconds = std::chrono::duration<double, std::milli>;
        const auto start = std::chrono::steady_clock::now();
        while (*ran < 5) {
            *ran = Milliseconds(std::chrono::steady_clock::now() - start).count();
        }
    })));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(second.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    float forward = 0, backward = 0, none = 77;
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&forward, first.Get(), second.Get())));
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&backward, second.Get(), first.Get())));
    ASSERT_TRUE(IsOk(aclrtEventElapsedTime(&none, first.Get(), first.Get())));
    EXPECT_GE(forward, *ran - 0.01);
    EXPECT_LT(forward, 30000);
    EXPECT_FLOAT_EQ(backward, -forward);
    EXPECT_EQ(none, 0);
}

// Events between streams: waits, repeated records, reset in stream order, destruction.

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

// Events: timestamps, who still waits for them, identities.

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
