// SPDX-License-Identifier: Apache-2.0
// Tests of events: records, resets, times, ends, and which waits for them count.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "acl/acl_base.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/event_board.h"
#include "src/runtime/task/ticket.h"
#include "unit/runtime/commands/event_bench.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

// A replay looks events up, locks them, and must not use one that was destroyed between the two.
TEST_F(EventUnitTest, AModelRefusesAnEventThatWasDestroyedAfterItWasFound) {
    const HandleTable<Event>::Entry live = TheEvents().Acquire();
    const HandleTable<Event>::Entry gone = TheEvents().Acquire();
    live.object->Open(live.handle, Event::Traits{});
    gone.object->Open(gone.handle, Event::Traits{});
    {
        ModelEvents both;
        both.Add(ToPointer(live.handle));
        both.Add(ToPointer(gone.handle));
        EXPECT_TRUE(both.Any());
        ASSERT_TRUE(Succeeds(gone.object->Close(gone.handle)));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, both.Lock()));
    }
    {
        ModelEvents one;
        one.Add(ToPointer(live.handle));
        EXPECT_TRUE(Succeeds(one.Lock()));
    }
    ASSERT_TRUE(Succeeds(live.object->Close(live.handle)));
    TheEvents().Release(gone.object);
    TheEvents().Release(live.object);
}

TEST_F(EventUnitTest, StartsUnrecorded) {
    Open(EventKind::kCreate);
    const Event::State state = Read();
    EXPECT_FALSE(state.recorded);
    EXPECT_FALSE(state.complete);
    EXPECT_TRUE(state.timing);
    Ticket ticket;
    EXPECT_TRUE(Succeeds(event_.LatestRecord(kEvent, &ticket)));
    EXPECT_EQ(ticket.stream, nullptr);
}

TEST_F(EventUnitTest, CompletesWhenItsPlaceIsReached) {
    Open(EventKind::kCreate);
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    EXPECT_TRUE(Read().recorded);
    EXPECT_FALSE(Read().complete);
    EXPECT_FALSE(Read().stamped);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 1);
    EXPECT_TRUE(Read().complete);
    EXPECT_TRUE(Read().stamped);
}

TEST_F(EventUnitTest, TimesGrowAlongAStream) {
    Open(EventKind::kCreate);
    Event later;
    later.Open(0x2E3, Event::Traits{});
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(later.Record(0x2E3, a_.Ref())));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    Event::State end;
    ASSERT_TRUE(Succeeds(later.Read(0x2E3, &end)));
    EXPECT_GE(end.nanoseconds, Read().nanoseconds);
    EXPECT_GT(Read().nanoseconds, 0);
}

TEST_F(EventUnitTest, LatestRecordCounts) {
    Open(EventKind::kCreate);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(Record(&b_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_FALSE(Read().complete);
    EXPECT_FALSE(Read().stamped);  // the mark of the record before is not its time
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_TRUE(Read().complete);
    EXPECT_TRUE(Read().stamped);
    Ticket ticket;
    EXPECT_TRUE(Succeeds(event_.LatestRecord(kEvent, &ticket)));
    EXPECT_EQ(ticket.stream, &streamB_);
}

TEST_F(EventUnitTest, RecordingACompleteEventAgainMakesItIncomplete) {
    Open(EventKind::kCreate);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(a_.Synchronize()));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    EXPECT_FALSE(Read().complete);
    EXPECT_FALSE(Read().stamped);
}

TEST_F(EventUnitTest, StreamIsCheckedByEveryCall) {
    Open(EventKind::kCreateExWithFlag);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                          event_.Record(kEvent, {&streamA_, 0x999, unit::kCaller})));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT,
                          event_.Record(kEvent, {&streamA_, a_.GetHandle(), 0x2C5})));
    EXPECT_FALSE(Read().recorded);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT,
                          event_.WaitOn(kEvent, {&streamA_, a_.GetHandle(), 0x2C5})));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                          event_.WaitOn(kEvent, {&streamA_, 0x999, unit::kCaller})));
    Open(EventKind::kCreateWithFlag);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                          event_.Reset(kEvent, {&streamA_, 0x999, unit::kCaller})));
}

TEST_F(EventUnitTest, ResetIsInStreamOrder) {
    Open(EventKind::kCreateWithFlag);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(a_.Synchronize()));
    ASSERT_TRUE(Succeeds(Reset(&a_)));
    EXPECT_TRUE(Read().recorded);
    EXPECT_TRUE(Read().complete);
    ASSERT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_FALSE(Read().recorded);
    EXPECT_FALSE(Read().complete);
    Ticket ticket;
    EXPECT_TRUE(Succeeds(event_.LatestRecord(kEvent, &ticket)));
    EXPECT_EQ(ticket.stream, nullptr);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, WaitOn(&b_)));
}

TEST_F(EventUnitTest, RecordAfterResetCounts) {
    Open(EventKind::kCreateWithFlag);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(Reset(&a_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(Read().recorded);
    EXPECT_TRUE(Read().complete);
    EXPECT_TRUE(Succeeds(WaitOn(&b_)));
}

TEST_F(EventUnitTest, PlainEventsReset) {
    Open(EventKind::kCreate);
    EXPECT_TRUE(Succeeds(Reset(&a_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(EventUnitTest, EventsThatNothingWaitsForDoNotReset) {
    Open(EventKind::kCreateExWithFlag);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Reset(&a_)));
    Open(EventKind::kCreateWithFlag, false);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Reset(&a_)));
    EXPECT_TRUE(a_.Complete());
}

TEST_F(EventUnitTest, ClosedEventIsUnknownToEveryCall) {
    Open(EventKind::kCreateWithFlag);
    EXPECT_TRUE(Succeeds(event_.Close(kEvent)));
    Event::State state;
    Ticket ticket;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, event_.Close(kEvent)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, Record(&a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, WaitOn(&a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, Reset(&a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, event_.Read(kEvent, &state)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, event_.LatestRecord(kEvent, &ticket)));
}

TEST_F(EventUnitTest, ClosingAPendingEventKeepsTheOrderOfTheWork) {
    Open(EventKind::kCreate);
    int first = 0;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(WaitOn(&b_)));
    ASSERT_TRUE(Succeeds(b_.Enqueue([&] { return first = count_, Status(); })));
    EXPECT_TRUE(Succeeds(event_.Close(kEvent)));
    event_.Open(0x2E3, Event::Traits{});  // the object is used again
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(first, 1);
    Event::State state;
    EXPECT_TRUE(Succeeds(event_.Read(0x2E3, &state)));
    EXPECT_FALSE(state.recorded);
    EXPECT_FALSE(state.stamped);  // the late mark is of the life before
}

TEST_F(EventUnitTest, ClosesWithItsContext) {
    Event::Traits traits;
    traits.context = unit::kCaller;
    event_.Open(kEvent, traits);
    EXPECT_FALSE(event_.CloseIfOf(0x2C5));
    EXPECT_TRUE(event_.CloseIfOf(unit::kCaller));
    EXPECT_FALSE(event_.CloseIfOf(unit::kCaller));
    event_.Open(kEvent, traits);
    EXPECT_TRUE(event_.CloseIfOf(0));
    Event::State state;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, event_.Read(kEvent, &state)));
}

TEST_F(EventUnitTest, DroppedMarkStillCompletes) {
    Open(EventKind::kCreate);
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(WaitOn(&b_)));
    ASSERT_TRUE(Succeeds(a_.Close(true)));
    EXPECT_TRUE(Read().complete);
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(count_, 0);
}

// Whoever sees a record complete also sees its time.
TEST_F(EventUnitTest, ThreadsReadWhileOthersRecord) {
    Open(EventKind::kCreate);
    std::atomic<bool> over{false};
    int64_t completed = 0;
    std::thread reader([&] {
        int64_t latest = 0;
        while (!over) {
            const Event::State state = Read();
            if (state.complete) {
                EXPECT_TRUE(state.stamped);
                EXPECT_GE(state.nanoseconds, latest);
                latest = state.nanoseconds;
                ++completed;
            }
        }
    });
    for (int round = 0; round < 2000; ++round) {
        EXPECT_TRUE(Succeeds(Record(&a_)));
        EXPECT_TRUE(Succeeds(a_.Synchronize()));
    }
    over = true;
    reader.join();
    EXPECT_TRUE(Read().complete);
    EXPECT_GE(completed, 0);
}

// Tests of event waits: for which record they are, and that the last of each stream counts. The
// numbers of shared records.

using unit::StreamBench;

class EventWaitsTest : public testing::Test {
 protected:
    // A task of the stream, as the place of a wait.
    static Ticket Queue(StreamBench& bench) {
        Ticket ticket;
        EXPECT_TRUE(Succeeds(bench.Enqueue([] { return Status(); }, {}, &ticket)));
        return ticket;
    }
    void Add(const Ticket& ticket) {
        waits_.Reserve();
        waits_.Add(ticket);
    }

    Stream streamA_, streamB_;
    unit::CountingWorkers workers_;
    StreamBench a_{&streamA_, 11, &workers_};
    StreamBench b_{&streamB_, 12, &workers_};
    EventWaits waits_;
};

TEST_F(EventWaitsTest, NoneHavePassed) { EXPECT_TRUE(waits_.AllPassed()); }

TEST_F(EventWaitsTest, TheLastOfAStreamCounts) {
    const Ticket first = Queue(a_);
    const Ticket second = Queue(a_);
    Add(first);
    Add(second);
    ASSERT_TRUE(Succeeds(WaitFor(first)));
    EXPECT_FALSE(waits_.AllPassed());
    ASSERT_TRUE(Succeeds(WaitFor(second)));
    EXPECT_TRUE(waits_.AllPassed());
}

TEST_F(EventWaitsTest, EveryStreamCounts) {
    const Ticket ofA = Queue(a_);
    const Ticket ofB = Queue(b_);
    Add(ofA);
    Add(ofB);
    ASSERT_TRUE(Succeeds(WaitFor(ofB)));
    EXPECT_FALSE(waits_.AllPassed());
    Add(Queue(b_));  // in place of the one that has passed
    ASSERT_TRUE(Succeeds(WaitFor(ofA)));
    EXPECT_FALSE(waits_.AllPassed());
    ASSERT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_TRUE(waits_.AllPassed());
}

TEST_F(EventWaitsTest, ClearForgets) {
    Add(Queue(a_));
    waits_.Clear();
    EXPECT_TRUE(waits_.AllPassed());
    ASSERT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(EventUnitTest, WaitIsForTheRecordAtTheTimeOfTheCall) {
    Open(EventKind::kCreate);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(WaitOn(&b_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(count_, 0);  // nobody waited for what stands before the second record
    EXPECT_FALSE(Read().complete);
}

TEST_F(EventUnitTest, WaitPutsLaterWorkBehindTheRecord) {
    Open(EventKind::kCreate);
    int first = 0;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(Record(&a_)));
    ASSERT_TRUE(Succeeds(WaitOn(&b_)));
    ASSERT_TRUE(Succeeds(b_.Enqueue([&] { return first = count_, Status(); })));
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(first, 1);
}

TEST_F(EventUnitTest, WaitOnAnUnrecordedEventDependsOnItsKind) {
    Open(EventKind::kCreate);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, WaitOn(&a_), {"not recorded"}));
    Open(EventKind::kCreateWithFlag);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, WaitOn(&a_), {"not recorded"}));
    Open(EventKind::kCreateExWithFlag);
    EXPECT_TRUE(Succeeds(WaitOn(&a_)));
    EXPECT_TRUE(a_.Complete());  // nothing was queued
}

TEST_F(EventUnitTest, EventThatCannotBeWaitedOnSaysSo) {
    Open(EventKind::kCreateWithFlag, false);
    ASSERT_TRUE(Succeeds(Record(&a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, WaitOn(&a_), {"ACL_EVENT_SYNC"}));
}

// Another process has taken a number and not noted yet that it is issued.
TEST_F(EventWaitsTest, ARecordTakesTheNumberAfterThatOfAnotherProcess) {
    constexpr size_t kSlots = 2;  // behind the greatest number that is issued and that is queued
    std::unique_ptr<EventBoard> board;
    ASSERT_TRUE(Succeeds(EventBoard::Make(&board)));
    auto* const words = static_cast<std::atomic<uint64_t>*>(board->State()->Get());
    words[kSlots + 1].store(2 * 1);
    for (const uint64_t expected : {2, 3}) {
        uint64_t number = 0;
        Ticket ticket;
        ASSERT_TRUE(Succeeds(board->Record(a_.Ref(), &number, &ticket)));
        EXPECT_EQ(number, expected);
        EXPECT_EQ(words[kSlots + expected].load(), 2 * expected);
    }
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(board->Complete(3));
    EXPECT_FALSE(board->Complete(1));
}

}  // namespace

}  // namespace advstep
