// SPDX-License-Identifier: Apache-2.0
// Waiting: for other streams, for other threads, for oneself.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"
#include "support/host_work.h"
#include "support/watchdog.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

class StreamWaitTest : public testing::Test {
 protected:
    support::Watchdog watchdog_{std::chrono::seconds(120)};
    unit::CountingWorkers workers_;
    Stream streamA_;
    Stream streamB_;
    unit::StreamBench a_{&streamA_, 0x157, &workers_};
    unit::StreamBench b_{&streamB_, 0x257, &workers_};
    std::atomic<int> count_{0};
    std::vector<int> order_;

    Status Note(unit::StreamBench* stream, int value, Ticket* ticket = nullptr) {
        return stream->Enqueue([this, value] { return order_.push_back(value), Status(); }, {},
                               ticket);
    }
};

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

class RacingWaitTest : public testing::Test {
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

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    RacingWorkers workers_;
    Stream streamA_;
    Stream streamB_;
    unit::StreamBench a_{&streamA_, 0x157, &workers_};
    unit::StreamBench b_{&streamB_, 0x257, &workers_};
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

}  // namespace
}  // namespace advstep
