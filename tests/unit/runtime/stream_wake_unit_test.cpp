// SPDX-License-Identifier: Apache-2.0
// Tests of the waking of a worker for work that nobody waits for.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <utility>

#include "src/runtime/stream/stream.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::Succeeds;
using Watch = WorkerControl::Watch;

class StreamWakeTest : public testing::Test {
 protected:
    // A burst of one task that a worker runs; the wakes that it took.
    int WakesOfUnwaitedBurst(unit::StreamBench* stream) {
        workers_.wakes = 0;
        EXPECT_TRUE(Succeeds(stream->EnqueueCount(&count_)));
        EXPECT_TRUE(stream->RunSome(false));
        return workers_.wakes;
    }

    const std::unique_ptr<Stream> stream_ = std::make_unique<Stream>();
    unit::CountingWorkers workers_;
    std::atomic<int> count_{0};
    unit::StreamBench bench_{stream_.get(), 0x100, &workers_};
};

TEST_F(StreamWakeTest, ANappingWorkerIsWokenForBurstsThatNobodyWaitsFor) {
    workers_.SetWatch(Watch::kNapping);
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 0);
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 0);
    for (int burst = 0; burst < 10; ++burst) {
        EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 1) << burst;
    }
    workers_.SetWatch(Watch::kResting);
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 0);
}

TEST_F(StreamWakeTest, AThreadThatWaitsEndsTheHabit) {
    workers_.SetWatch(Watch::kNapping);
    for (int burst = 0; burst < 5; ++burst) {
        (void)WakesOfUnwaitedBurst(&bench_);
    }
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));  // there was nothing to wait for
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 1);
    ASSERT_TRUE(Succeeds(bench_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 0);
}

TEST_F(StreamWakeTest, AWaitForATicketEndsTheHabit) {
    workers_.SetWatch(Watch::kNapping);
    for (int burst = 0; burst < 5; ++burst) {
        (void)WakesOfUnwaitedBurst(&bench_);
    }
    ASSERT_TRUE(Succeeds(bench_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(WaitFor(stream_->Now())));
    EXPECT_EQ(WakesOfUnwaitedBurst(&bench_), 0);
}

// Otherwise a worker that is always faster than the thread that waits would be woken for ever.
TEST_F(StreamWakeTest, NowAndThenABurstIsLeftLying) {
    workers_.SetWatch(Watch::kNapping);
    int unwoken = 0;
    for (int burst = 0; burst < 1000; ++burst) {
        unwoken += WakesOfUnwaitedBurst(&bench_) == 0 ? 1 : 0;
    }
    EXPECT_GE(unwoken, 3);
    EXPECT_LE(unwoken, 6);
}

TEST_F(StreamWakeTest, AQueryWakesAWorkerForWorkThatCanRun) {
    bool complete = true;
    for (const auto& [watch, wakes] :
         {std::pair{Watch::kAsleep, 1}, std::pair{Watch::kNapping, 1},
          std::pair{Watch::kResting, 0}, std::pair{Watch::kAwake, 0}}) {
        workers_.SetWatch(Watch::kAwake);
        ASSERT_TRUE(Succeeds(bench_.EnqueueCount(&count_)));
        workers_.SetWatch(watch);
        workers_.wakes = 0;
        ASSERT_TRUE(Succeeds(stream_->Query(bench_.GetHandle(), unit::kCaller, &complete)));
        EXPECT_FALSE(complete);
        EXPECT_EQ(workers_.wakes, wakes);
        EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    }
}

TEST_F(StreamWakeTest, AQueryWakesNobodyForWorkThatWaits) {
    const std::unique_ptr<Stream> other = std::make_unique<Stream>();
    unit::StreamBench otherBench(other.get(), 0x200, &workers_);
    Ticket ticket;
    ASSERT_TRUE(Succeeds(otherBench.EnqueueCount(&count_, {}, &ticket)));
    ASSERT_TRUE(Succeeds(bench_.EnqueueWait(ticket)));
    workers_.SetWatch(Watch::kNapping);
    workers_.wakes = 0;
    bool complete = true;
    ASSERT_TRUE(Succeeds(stream_->Query(bench_.GetHandle(), unit::kCaller, &complete)));
    EXPECT_FALSE(complete);
    EXPECT_EQ(workers_.wakes, 0);
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
}

TEST_F(StreamWakeTest, TheWatcherSeesWhoRunsTheWork) {
    for (int task = 0; task < 20; ++task) {
        ASSERT_TRUE(Succeeds(bench_.EnqueueCount(&count_)));
    }
    EXPECT_TRUE(stream_->QueuedForWaiters());
    EXPECT_FALSE(stream_->QueuedForWaiters()) << "nothing since";
    EXPECT_FALSE(stream_->WaitersRunIt());
    EXPECT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_TRUE(stream_->WaitersRunIt());
    EXPECT_FALSE(stream_->NobodyWaits());
    EXPECT_FALSE(stream_->QueuedForWaiters());
    EXPECT_FALSE(stream_->WaitersRunIt()) << "not since the last call";
}

}  // namespace
}  // namespace advstep
