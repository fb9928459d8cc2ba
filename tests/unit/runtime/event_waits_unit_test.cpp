// SPDX-License-Identifier: Apache-2.0
// Tests of event waits: for which record they are, and that the last of each stream counts. The
// numbers of shared records.

#include "src/runtime/commands/event.h"
#include "src/runtime/task/ticket.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "src/runtime/commands/event_board.h"
#include "unit/runtime/event_bench.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::StreamBench;
using unit::Succeeds;

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
