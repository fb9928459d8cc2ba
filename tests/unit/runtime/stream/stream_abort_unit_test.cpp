// SPDX-License-Identifier: Apache-2.0
// Aborts and skipped tasks: who is released, what is skipped, and what is not. Batches.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/stream.h"
#include "unit/runtime/stream/two_streams.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

class WorkersWithHook : public unit::CountingWorkers {
 public:
    void Wake() override {
        CountingWorkers::Wake();
        if (onWake) {
            std::exchange(onWake, nullptr)();
        }
    }
    std::function<void()> onWake;
};

class StreamAbortTest : public unit::TwoStreamsOf<WorkersWithHook> {
 protected:
    Status Note(unit::StreamBench* bench, int value, unit::TaskTraits traits = {}) {
        return bench->Enqueue([this, value] { return order_.push_back(value), Status(); }, traits);
    }
    // A batch of one task, which does nothing.
    Status EnqueueOne(Stream::Batch batch) {
        batch.bytes = AlignedTaskBytes(sizeof(Task));
        batch.count = 1;
        Ticket last;
        return a_.Ref().EnqueueBatch(
            batch, [](uint64_t) { return Status(); },
            [](void* memory) {
                new (memory) Task;
                static_cast<Task*>(memory)->bytes =
                    static_cast<uint32_t>(AlignedTaskBytes(sizeof(Task)));
            },
            &last);
    }
    void Abort(const unit::StreamBench& bench) { EXPECT_TRUE(Succeeds(bench.Ref().Abort())); }
};

// The end of a brief task for which another stream waits: the workers are woken without the lock.
TEST_F(StreamAbortTest, EndsASynchronisationThatWakesWorkersAfterABriefTask) {
    Ticket first;
    ASSERT_TRUE(Succeeds(a_.Enqueue([] { return Status(); }, unit::kBrief, &first)));
    ASSERT_TRUE(Succeeds(Note(&a_, 2, unit::kBrief)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(first)));
    EXPECT_FALSE(b_.RunSome(true));
    workers_.onWake = [this] { Abort(a_); };
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, a_.Synchronize()));
    EXPECT_TRUE(order_.empty());
}

TEST_F(StreamAbortTest, StreamThatEndsThenHandsItsFailureToTheSynchronisation) {
    Ticket first;
    ASSERT_TRUE(Succeeds(
        a_.Enqueue([] { return Status(507035, "told by a test"); }, unit::kBrief, &first)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(first)));
    EXPECT_FALSE(b_.RunSome(true));
    workers_.onWake = [this] { EXPECT_TRUE(Succeeds(a_.Close(false))); };
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize(), {"told by a test"}));
}

// The thread synchronises a_ and runs b_ for it. An abort of a_ releases it after the task of b_
// that it runs, not after all of them.
TEST_F(StreamAbortTest, ReleasesAThreadThatHelpsAnotherStream) {
    ASSERT_TRUE(Succeeds(b_.Enqueue([this] { return Abort(a_), Status(); })));
    ASSERT_TRUE(Succeeds(Note(&b_, 1)));
    ASSERT_TRUE(Succeeds(a_.EnqueueWait(streamB_.Now())));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, a_.Synchronize()));
    EXPECT_EQ(order_, std::vector<int>());
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(order_, std::vector<int>{1}) << "b_ itself goes on";
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

// The hook runs between the end of the task and the return of the wait for it.
TEST_F(StreamAbortTest, AfterTheWorkHasEndedTellsNobody) {
    Ticket ticket;
    ASSERT_TRUE(Succeeds(a_.Enqueue([] { return Status(); }, {}, &ticket)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(ticket)));
    (void)b_.RunSome(true);  // from now on the end of the task wakes the workers
    workers_.onWake = [&] {
        Abort(a_);
        Abort(a_);
    };
    EXPECT_TRUE(Succeeds(WaitFor(ticket, {})));
    EXPECT_FALSE(workers_.onWake) << "the aborts came in between";
}

// The first of two aborts hits the work that runs, the second comes after its end.
TEST_F(StreamAbortTest, TheFirstOfTwoAbortsCounts) {
    Ticket ticket;
    ASSERT_TRUE(Succeeds(a_.Enqueue([this] { return Abort(a_), Status(); }, {}, &ticket)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(ticket)));
    (void)b_.RunSome(true);
    workers_.onWake = [&] {  // by the first
        workers_.onWake = [&] { Abort(a_); };
    };
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, a_.Synchronize()));
    EXPECT_FALSE(workers_.onWake);
}

TEST_F(StreamAbortTest, SkippedIntervalsDoNotTouchEachOther) {
    for (int value = 1; value <= 6; ++value) {
        ASSERT_TRUE(Succeeds(Note(&a_, value)));
    }
    streamA_.SkipReplay(0, 2);               // of a replay that was aborted
    streamA_.SkipReplay(5, Stream::kNever);  // of a later one that could not be queued
    streamA_.SkipReplay(2, 3);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{4, 5}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, streamA_.CheckRan(6)));
    EXPECT_TRUE(Succeeds(streamA_.CheckRan(5)));
    ASSERT_TRUE(Succeeds(Note(&a_, 7)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{4, 5, 7}));
}

TEST_F(StreamAbortTest, WhatIsSkippedKeepsItsFirstReason) {
    ASSERT_TRUE(Succeeds(Note(&a_, 1)));
    streamA_.SkipReplay(0, 1);
    bool closing = true;
    EXPECT_TRUE(Succeeds(a_.Ref().Drop(&closing)));
    EXPECT_FALSE(closing);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, streamA_.CheckRan(1)));
}

// Records in several segments of the queue, some behind a mark that always runs.
TEST_F(StreamAbortTest, SkipsWhateverIsQueued) {
    constexpr int kTasks = 5000;
    for (int value = 0; value < kTasks; ++value) {
        ASSERT_TRUE(Succeeds(
            Note(&a_, value, value % 1000 == 7 ? unit::kEventRecord : unit::TaskTraits{})));
    }
    Abort(a_);
    ASSERT_TRUE(Succeeds(Note(&a_, kTasks)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{7, 1007, 2007, 3007, 4007, kTasks}));
}

// A task that fails and stops its stream skips the very next one too, which the exception callback
// and the failure see while the failed task is still in the queue.
TEST_F(StreamAbortTest, AStopOnFailureSkipsTheNextTask) {
    ASSERT_TRUE(Succeeds(streamA_.SetStopOnFailure(a_.GetHandle(), unit::kCaller, true)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(ACL_ERROR_FAILURE)));
    ASSERT_TRUE(Succeeds(Note(&a_, 1)));
    ASSERT_TRUE(Succeeds(Note(&a_, 2)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, a_.Synchronize()));
    EXPECT_EQ(order_, std::vector<int>());
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, streamA_.CheckRan(2)));
}

// The reason would tell others that it did not run.
TEST_F(StreamAbortTest, ATaskThatRunsIsNotSkipped) {
    struct Aborts : Task {
        Stream* stream;
        TaskSkip* own;
    };
    TaskSkip own = TaskSkip::kStopped;
    ASSERT_TRUE(Succeeds(a_.Ref().Enqueue(sizeof(Aborts), [&](void* memory) {
        auto* const task = new (memory) Aborts;
        task->stream = &streamA_;
        task->own = &own;
        task->run = [](const Task& base) {
            const auto& aborts = static_cast<const Aborts&>(base);
            aborts.stream->SkipReplay(0, Stream::kNever);
            *aborts.own = aborts.skip;
            return Status();
        };
        return task;
    })));
    ASSERT_TRUE(Succeeds(Note(&a_, 1)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(own, TaskSkip::kNot);
    EXPECT_EQ(order_, std::vector<int>()) << "the task behind it is skipped";
}

// Branches of a replay are queued under the lock of the replay's stream.
TEST_F(StreamAbortTest, ABatchMayLeaveTheWakingToItsCaller) {
    workers_.SetWatch(WorkerControl::Watch::kAsleep);
    for (const bool wakes : {false, true}) {
        SCOPED_TRACE(wakes);
        Stream::Batch batch;
        batch.wakes = wakes;
        const int before = workers_.wakes;
        ASSERT_TRUE(Succeeds(EnqueueOne(batch)));
        EXPECT_EQ(workers_.wakes - before, wakes ? 1 : 0);
    }
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

// Memory of another device is not freed before such a batch has ended.
TEST_F(StreamAbortTest, ABatchWithMemoryOfAnotherDeviceUsesItUntilItsEnd) {
    const Device other{1, Settings{}};
    uint64_t last = 0;
    for (const bool foreign : {false, true, false}) {
        SCOPED_TRACE(foreign);
        Stream::Batch batch;
        batch.foreign = foreign;
        ASSERT_TRUE(Succeeds(EnqueueOne(batch)));
        last = foreign ? streamA_.Now().sequence : last;
        EXPECT_EQ(streamA_.LastUse(&other).sequence, last);
    }
    EXPECT_EQ(last, 2U);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

}  // namespace
}  // namespace advstep
