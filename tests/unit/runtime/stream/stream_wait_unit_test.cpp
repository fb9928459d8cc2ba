// SPDX-License-Identifier: Apache-2.0
// Tests of waits: for other streams and threads, for oneself, with a condition or a timeout.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"
#include "support/host_work.h"
#include "unit/runtime/stream/two_streams.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

class StreamWaitTest : public unit::TwoStreamsTest {};

TEST_F(StreamWaitTest, WaitingForAStreamRunsWhatItWaitsFor) {
    Ticket ticket;
    ASSERT_TRUE(Succeeds(Note(&a_, 1, &ticket)));
    ASSERT_TRUE(Succeeds(Note(&a_, 2)));
    ASSERT_TRUE(Succeeds(Note(&b_, 3)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(ticket)));
    ASSERT_TRUE(Succeeds(Note(&b_, 4)));
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{3, 1, 4}));  // not 2, which nobody waits for
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{3, 1, 4, 2}));
}

TEST_F(StreamWaitTest, WaitsChainThroughStreams) {
    Stream streams[6];
    std::vector<std::unique_ptr<unit::StreamBench>> benches;
    Ticket ticket;
    for (int index = 0; index < 6; ++index) {
        benches.push_back(std::make_unique<unit::StreamBench>(
            &streams[index], static_cast<Handle>(0x1057 + 0x100 * index), &workers_));
        if (index > 0) {
            ASSERT_TRUE(Succeeds(benches.back()->EnqueueWait(ticket)));
        }
        ASSERT_TRUE(Succeeds(Note(benches.back().get(), index, &ticket)));
    }
    EXPECT_TRUE(Succeeds(benches.back()->Synchronize()));
    EXPECT_EQ(order_, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

// Each host function waits for the next stream's, in one thread because no other can be started.
TEST_F(StreamWaitTest, AWaitInsideTooManyTasksIsRefused) {
    constexpr size_t kStreams = 520;
    workers_.SetMissing();
    std::vector<Stream> streams(kStreams);
    std::vector<std::unique_ptr<unit::StreamBench>> benches;
    for (size_t index = 0; index < kStreams; ++index) {
        benches.push_back(std::make_unique<unit::StreamBench>(
            &streams[index], static_cast<Handle>(0x1057 + 0x100 * index), &workers_));
    }
    std::vector<size_t> refused;
    for (size_t index = 0; index < kStreams; ++index) {
        const auto waitForNext = [&, index] {
            if (index + 1 < kStreams) {
                const Status status = benches[index + 1]->Synchronize();
                if (!status.ok()) {
                    refused.push_back(index);
                    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, status,
                                          {"512 tasks", "no thread can be started"}));
                }
            }
            return Status();
        };
        ASSERT_TRUE(Succeeds(benches[index]->Enqueue(waitForNext, unit::kHostFunction)));
    }
    EXPECT_TRUE(Succeeds(benches[0]->Synchronize()));
    EXPECT_EQ(refused, (std::vector<size_t>{511}));
    for (const auto& bench : benches) {
        EXPECT_TRUE(Succeeds(bench->Synchronize()));
    }
}

TEST_F(StreamWaitTest, BlockedStreamHasTheWorkersWokenWhenItMayGoOn) {
    workers_.SetWatch(WorkerControl::Watch::kAwake);
    Ticket ticket;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &ticket)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(ticket)));
    EXPECT_FALSE(b_.RunSome(false));
    EXPECT_EQ(workers_.wakes, 0);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(workers_.wakes, 1);
    EXPECT_TRUE(b_.RunSome(false));
    EXPECT_TRUE(b_.Complete());
}

TEST_F(StreamWaitTest, TaskThatWaitsForItsOwnStreamIsRefused) {
    Status own;
    Status crossed;
    Ticket ticket;
    ASSERT_TRUE(Succeeds(a_.Enqueue(
        [&] {
            own = a_.Synchronize();
            crossed = b_.Synchronize();
            return Status();
        },
        unit::kHostFunction, &ticket)));
    ASSERT_TRUE(Succeeds(b_.EnqueueWait(ticket)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, own));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, crossed));
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
}

TEST_F(StreamWaitTest, WaitersReturnWhenAnotherThreadHasRunTheTask) {
    const support::Signal entered;
    const support::Signal opened;
    ASSERT_TRUE(Succeeds(a_.Enqueue([&] {
        entered.Set();
        EXPECT_TRUE(opened.Wait());
        ++count_;
        return Status();
    })));
    std::thread runner([&] { EXPECT_TRUE(Succeeds(a_.Synchronize())); });
    EXPECT_TRUE(entered.Wait());
    std::vector<std::thread> waiters;
    for (int waiter = 0; waiter < 3; ++waiter) {
        waiters.emplace_back([&] {
            EXPECT_TRUE(Succeeds(a_.Synchronize()));
            EXPECT_EQ(count_, 1);
        });
    }
    EXPECT_FALSE(a_.Complete());
    opened.Set();
    runner.join();
    for (std::thread& waiter : waiters) {
        waiter.join();
    }
}

TEST_F(StreamWaitTest, ThreadsShareAStream) {
    std::vector<std::thread> threads;
    int plain = 0;  // guarded by the stream: one task at a time
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int task = 0; task < 500; ++task) {
                EXPECT_TRUE(Succeeds(a_.Enqueue([&] { return ++plain, Status(); })));
                if (task % 7 == 0) {
                    EXPECT_TRUE(Succeeds(a_.Synchronize()));
                }
            }
            EXPECT_TRUE(Succeeds(a_.Synchronize()));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(plain, 2000);
}

// Does something at the first wake-up, which a waiter makes between its look and its sleep.
class RacingWorkers : public WorkerControl {
 public:
    void Wake() override {
        if (onWake) {
            std::exchange(onWake, nullptr)();
        }
    }
    void StepAside() override {}
    void NudgeSleepers() override {
        for (Stream* stream : streams) {
            stream->Nudge();
        }
    }
    std::function<void()> onWake;
    std::vector<Stream*> streams;
};

class RacingWaitTest : public unit::TwoStreamsOf<RacingWorkers> {
 protected:
    void EnqueuePoll(unit::StreamBench* bench) {
        static std::atomic<bool>* flag = nullptr;
        flag = &holds_;
        ASSERT_TRUE(Succeeds(bench->Get().Enqueue(
            bench->GetHandle(), unit::kCaller, sizeof(PollWaitTask), [](void* memory) {
                auto* const task = new (memory) PollWaitTask;
                task->kind = TaskKind::kPollWait;
                task->holds = [](PollWaitTask&) { return flag->load(); };
                return task;
            })));
    }

    std::atomic<bool> holds_{false};
};

TEST_F(RacingWaitTest, FrontThatEndsBeforeTheWaiterSleepsIsNotMissed) {
    EnqueuePoll(&a_);
    workers_.onWake = [&] {
        holds_ = true;
        EXPECT_TRUE(a_.RunSome(true));
    };
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(RacingWaitTest, AbortBeforeTheWaiterSleepsElsewhereIsNotMissed) {
    workers_.streams = {&streamA_, &streamB_};
    EnqueuePoll(&b_);
    ASSERT_TRUE(Succeeds(a_.EnqueueWait(streamB_.Now())));
    workers_.onWake = [&] {  // on the way from a to b; then at b
        workers_.onWake = [&] { EXPECT_TRUE(Succeeds(a_.Ref().Abort())); };
    };
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, a_.Synchronize()));
    holds_ = true;
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
}

// Waits that end by a condition or a timeout, timed synchronisation, abort and batches.

struct FlagWaitTask : PollWaitTask {
    std::atomic<bool>* flag;
    std::atomic<int>* asks;
};

class StreamLimitTest : public unit::TwoStreamsTest {
 protected:
    std::atomic<bool> flag_{false};
    std::atomic<int> asks_{0};

    Status EnqueueFlagWait(unit::StreamBench* bench, int64_t timeoutNanoseconds = 0,
                           bool recheck = false) {
        return bench->Get().Enqueue(
            bench->GetHandle(), unit::kCaller, sizeof(FlagWaitTask), [&](void* memory) {
                auto* const task = new (memory) FlagWaitTask;
                task->kind = TaskKind::kPollWait;
                task->timeoutNanoseconds = timeoutNanoseconds;
                task->recheck = recheck;
                task->flag = &flag_;
                task->asks = &asks_;
                task->holds = [](PollWaitTask& base) {
                    const auto& wait = static_cast<const FlagWaitTask&>(base);
                    ++*wait.asks;
                    return wait.flag->exchange(false);
                };
                return task;
            });
    }

    static WaitLimit Milliseconds(int32_t ms) {
        WaitLimit limit;
        EXPECT_TRUE(Succeeds(MakeWaitLimit(ms, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit)));
        return limit;
    }
};

TEST_F(StreamLimitTest, APollWaitHoldsItsStreamUntilItsConditionHolds) {
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_FALSE(a_.RunSome(true));
    EXPECT_EQ(count_, 0);
    flag_ = true;
    EXPECT_TRUE(a_.RunSome(true));
    EXPECT_EQ(count_, 1);
    EXPECT_FALSE(flag_) << "it consumes what it found";
}

TEST_F(StreamLimitTest, OneFlagLetsOneWaitGo) {
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_)));
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&b_)));
    flag_ = true;
    EXPECT_TRUE(a_.RunSome(true));
    EXPECT_FALSE(b_.RunSome(true));
    EXPECT_TRUE(a_.Complete());
    EXPECT_FALSE(b_.Complete());
}

TEST_F(StreamLimitTest, AWaitThatIsRecheckedSaysWhenToLookAgain) {
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_, 0, true)));
    WaitClock::time_point again = WaitClock::time_point::max();
    EXPECT_FALSE(streamA_.RunSome(true, &again));
    EXPECT_LT(again, WaitClock::now() + std::chrono::seconds(1));
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&b_)));
    again = WaitClock::time_point::max();
    EXPECT_FALSE(streamB_.RunSome(true, &again));
    EXPECT_EQ(again, WaitClock::time_point::max()) << "this one is announced";
}

TEST_F(StreamLimitTest, AnExpiredWaitIsAFailedTaskAndLaterWorkRuns) {
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_, 1)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    WaitClock::time_point again = WaitClock::time_point::max();
    while (count_ == 0) {
        (void)streamA_.RunSome(true, &again);
    }
    EXPECT_GT(workers_.nudges, 0);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_WAIT_TIMEOUT, a_.Synchronize()));
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_, 1000000000000)));
    flag_ = true;
    EXPECT_TRUE(Succeeds(a_.Synchronize())) << "the next wait is another one";
}

TEST_F(StreamLimitTest, AnExpiredEventWaitNeedsTheOtherStreamNoMore) {
    const Ticket never{&streamB_, streamB_.Now().sequence + 1};
    ASSERT_TRUE(Succeeds(
        streamA_.Enqueue(a_.GetHandle(), unit::kCaller, sizeof(TicketWaitTask), [&](void* memory) {
            auto* const task = new (memory) TicketWaitTask;
            task->kind = TaskKind::kTicketWait;
            task->timeoutNanoseconds = 1;
            task->ticket = never;
            return task;
        })));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    while (count_ == 0) {
        (void)a_.RunSome(true);
    }
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_WAIT_TIMEOUT, a_.Synchronize()));
}

TEST_F(StreamLimitTest, TimedSynchronisationRunsShortWorkOnly) {
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(
        Succeeds(streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(100000))));
    EXPECT_EQ(count_, 1);
    for (const unit::TaskTraits traits : {unit::kHostFunction, unit::kHeavy}) {
        const int before = count_;
        const int wakes = workers_.wakes;
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, traits)));
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                      streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(2))));
        EXPECT_EQ(count_, before);
        EXPECT_GT(workers_.wakes, wakes) << "they are to run it";
        EXPECT_TRUE(Succeeds(a_.Synchronize()));
        EXPECT_EQ(count_, before + 1);
    }
}

// A worker that naps is woken even if it counts as awake: it naps before it looks again.
TEST_F(StreamLimitTest, WhatIsLeftWakesAWorkerThatCountsAsAwake) {
    workers_.SetWatch(WorkerControl::Watch::kAwake);
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, unit::kUnknown)));
    const int wakes = workers_.wakes;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                          streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(2))));
    EXPECT_GT(workers_.wakes, wakes);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(StreamLimitTest, WithoutWorkersATimedSynchronisationRunsWhatIsSeldomLong) {
    workers_.SetMissing();
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, unit::kUnknown)));
    EXPECT_TRUE(
        Succeeds(streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(100000))));
    EXPECT_EQ(count_, 1);
    for (const unit::TaskTraits traits : {unit::kHostFunction, unit::kHeavy}) {
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, traits)));
        const int before = count_;
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                      streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(2))));
        EXPECT_EQ(count_, before);
        EXPECT_TRUE(Succeeds(a_.Synchronize()));
    }
}

TEST_F(StreamLimitTest, ForEverAlsoLeavesHostFunctionsToTheWorkers) {
    std::thread::id ranOn;
    ASSERT_TRUE(Succeeds(a_.Enqueue(
        [&] {
            ranOn = std::this_thread::get_id();
            return Status();
        },
        unit::kHostFunction)));
    std::thread worker([&] {
        while (!a_.RunSome(true)) {
            std::this_thread::yield();
        }
    });
    const std::thread::id workerId = worker.get_id();
    EXPECT_TRUE(Succeeds(streamA_.Synchronize(a_.GetHandle(), unit::kCaller, Milliseconds(-1))));
    worker.join();
    EXPECT_EQ(ranOn, workerId);
}

TEST_F(StreamLimitTest, LimitsAreMillisecondsOrForEver) {
    WaitLimit limit;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, MakeWaitLimit(0, 1, &limit)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, MakeWaitLimit(-2, 1, &limit)));
    EXPECT_TRUE(Succeeds(MakeWaitLimit(-1, 1, &limit)));
    EXPECT_FALSE(limit.Expired());
    EXPECT_TRUE(Succeeds(MakeWaitLimit(100000, 1, &limit)));
    EXPECT_FALSE(limit.Expired());
}

TEST_F(StreamLimitTest, AbortDropsWhatHasNotStartedAndTellsWhoWaits) {
    ASSERT_TRUE(Succeeds(EnqueueFlagWait(&a_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    Status waited;
    std::thread waiter([&] { waited = a_.Synchronize(); });
    while (asks_ < 2) {  // then the waiter is in WaitFor, and no longer between its two looks
        std::this_thread::yield();
    }
    EXPECT_TRUE(Succeeds(a_.Ref().Abort()));
    streamA_.Nudge();  // as the workers do
    waiter.join();
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, waited));
    EXPECT_TRUE(Succeeds(a_.Synchronize())) << "that began after the abort";
    EXPECT_EQ(count_, 0);
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 1);
}

TEST_F(StreamLimitTest, AStreamMayBeAbortedByItsOwnTask) {
    ASSERT_TRUE(Succeeds(a_.Enqueue([&] { return a_.Ref().Abort(); }, unit::kHostFunction)));
    Ticket dropped;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &dropped)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, a_.Synchronize()));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 0);
    EXPECT_TRUE(Succeeds(streamA_.CheckRan(dropped.sequence - 1)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_ABORT, streamA_.CheckRan(dropped.sequence)));
}

TEST_F(StreamLimitTest, ABatchIsQueuedWholeOrNotAtAll) {
    constexpr size_t kBytes = AlignedTaskBytes(sizeof(Task));
    const Stream::Batch batch{3 * kBytes, 3, false, false, false, true, {}};
    const auto fill = [&](void* memory) {
        for (int index = 0; index < 3; ++index) {
            auto* const task = new (static_cast<unsigned char*>(memory) + index * kBytes) Task;
            task->bytes = static_cast<uint32_t>(kBytes);
        }
    };
    const uint64_t issued = streamA_.Now().sequence;
    Ticket last;
    EXPECT_TRUE(
        FailsWith(7, streamA_.EnqueueBatch(
                         a_.GetHandle(), unit::kCaller, batch,
                         [](uint64_t) { return Status(7, "told by a test"); }, fill, &last)));
    EXPECT_EQ(streamA_.Now().sequence, issued);
    EXPECT_TRUE(Succeeds(streamA_.EnqueueBatch(
        a_.GetHandle(), unit::kCaller, batch,
        [&](uint64_t first) {
            EXPECT_EQ(first, issued + 1);
            return Status();
        },
        fill, &last)));
    EXPECT_EQ(last.sequence, issued + 3);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(streamA_.Reached(last.sequence));
}

}  // namespace

}  // namespace advstep
