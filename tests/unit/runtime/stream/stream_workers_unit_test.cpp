// SPDX-License-Identifier: Apache-2.0
// Tests of stream workers: wake-ups, blocked streams, hand-over.

#include "src/runtime/stream/stream_workers.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/host_work.h"
#include "support/tasks.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::Succeeds;

class StreamWorkersTest : public testing::Test {
 protected:
    // Nobody synchronises here: what runs, the workers run.
    unit::StreamBench& NewStream() {
        const auto entry = table_->Acquire();
        streams_.push_back(
            std::make_unique<unit::StreamBench>(entry.object, entry.handle, workers_.get()));
        return *streams_.back();
    }

    Status EnqueueGate(unit::StreamBench* stream, const support::Signal& entered,
                       const support::Signal& opened, Ticket* ticket = nullptr,
                       const unit::TaskTraits& traits = unit::kHostFunction) {
        return stream->Enqueue(
            [entered, opened] {
                entered.Set();
                EXPECT_TRUE(opened.Wait());
                return Status();
            },
            traits, ticket);
    }

    bool Reaches(int count) {
        return support::Eventually([&] { return count_.load() == count; });
    }
    bool FallsAsleep() {
        return support::Eventually(
            [&] { return workers_->watch() == WorkerControl::Watch::kAsleep; });
    }

    void TearDown() override {
        for (const auto& stream : streams_) {
            EXPECT_TRUE(Succeeds(stream->Close(false)));
        }
        workers_->Stop();
    }

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    std::atomic<int> count_{0};
    const std::unique_ptr<HandleTable<Stream>> table_ =
        std::make_unique<HandleTable<Stream>>(HandleKind::kStream);
    const std::unique_ptr<StreamWorkers> workers_ = std::make_unique<StreamWorkers>(*table_);
    std::vector<std::unique_ptr<unit::StreamBench>> streams_;
};

TEST_F(StreamWorkersTest, WorkRunsWithoutSynchronisation) {
    unit::StreamBench& stream = NewStream();
    for (int task = 0; task < 300; ++task) {
        ASSERT_TRUE(Succeeds(stream.EnqueueCount(&count_)));
    }
    EXPECT_TRUE(Reaches(300));
}

TEST_F(StreamWorkersTest, NewWorkWakesASleepingWorker) {
    EXPECT_EQ(workers_->watch(), WorkerControl::Watch::kAsleep);
    unit::StreamBench& stream = NewStream();
    for (int round = 1; round <= 4; ++round) {
        ASSERT_TRUE(Succeeds(stream.EnqueueCount(&count_)));
        ASSERT_TRUE(Reaches(round));
        ASSERT_TRUE(FallsAsleep());
    }
}

TEST_F(StreamWorkersTest, BlockedStreamsHoldNoOtherUp) {
    const support::Signal opened;
    std::vector<support::Signal> entered(5);
    for (const support::Signal& signal : entered) {
        ASSERT_TRUE(Succeeds(EnqueueGate(&NewStream(), signal, opened)));
    }
    for (const support::Signal& signal : entered) {
        EXPECT_TRUE(signal.Wait());  // all of them stand at their gates at a time
    }
    ASSERT_TRUE(Succeeds(NewStream().EnqueueCount(&count_)));
    EXPECT_TRUE(Reaches(1));
    opened.Set();
}

TEST_F(StreamWorkersTest, HeavyWorkHoldsNoOtherStreamUp) {
    const support::Signal entered;
    const support::Signal opened;
    ASSERT_TRUE(Succeeds(EnqueueGate(&NewStream(), entered, opened, nullptr, unit::kHeavy)));
    EXPECT_TRUE(entered.Wait());
    ASSERT_TRUE(Succeeds(NewStream().EnqueueCount(&count_)));
    EXPECT_TRUE(Reaches(1));
    opened.Set();
}

TEST_F(StreamWorkersTest, WaitingStreamGoesOnWhenItsTicketIsReached) {
    const support::Signal entered;
    const support::Signal opened;
    Ticket ticket;
    ASSERT_TRUE(Succeeds(EnqueueGate(&NewStream(), entered, opened, &ticket)));
    unit::StreamBench& waiting = NewStream();
    ASSERT_TRUE(Succeeds(waiting.EnqueueWait(ticket)));
    ASSERT_TRUE(Succeeds(waiting.Enqueue([this, ticket] {
        EXPECT_TRUE(ticket.stream->Reached(ticket.sequence));
        return ++count_, Status();
    })));
    EXPECT_TRUE(entered.Wait());
    ASSERT_TRUE(FallsAsleep());  // so that only the ticket can wake it
    EXPECT_EQ(count_, 0);
    opened.Set();
    EXPECT_TRUE(Reaches(1));
}

TEST_F(StreamWorkersTest, WorkRunsAgainAfterStop) {
    unit::StreamBench& stream = NewStream();
    for (int round = 1; round <= 5; ++round) {
        ASSERT_TRUE(Succeeds(stream.EnqueueCount(&count_)));
        ASSERT_TRUE(Reaches(round));
        workers_->Stop();
        EXPECT_EQ(workers_->watch(), WorkerControl::Watch::kAsleep);
    }
    workers_->Stop();
}

// A thread that has queued work may wake a worker after another one has run the work and ended the
// runtime.
TEST_F(StreamWorkersTest, NoThreadIsStartedWhileThereIsNoStream) {
    // A thread is there from the moment at which it is started, and a worker does not end by
    // itself.
    const std::set<std::string> before = support::Tasks();
    workers_->Wake();
    EXPECT_EQ(support::TasksSince(before).size(), 0U);
    EXPECT_EQ(workers_->watch(), WorkerControl::Watch::kAsleep);
    NewStream();
    workers_->Wake();
    EXPECT_EQ(support::TasksSince(before).size(), 1U);
}

TEST_F(StreamWorkersTest, SteppingAsideIsOnlyForTheWatcher) {
    workers_->StepAside();  // of a thread that is none: nothing happens
    EXPECT_EQ(workers_->watch(), WorkerControl::Watch::kAsleep);
}

TEST_F(StreamWorkersTest, EveryStreamKeepsItsOrder) {
    constexpr int kTasks = 400;
    std::vector<std::vector<int>> orders(6);
    std::vector<std::thread> threads;
    for (std::vector<int>& order : orders) {
        unit::StreamBench& stream = NewStream();
        threads.emplace_back([this, &stream, &order] {
            for (int task = 0; task < kTasks; ++task) {
                const unit::TaskTraits traits =
                    task % 50 == 0 ? unit::kHostFunction : unit::TaskTraits{};
                EXPECT_TRUE(Succeeds(stream.Enqueue(
                    [this, &order, task] {
                        order.push_back(task);
                        ++count_;
                        return Status();
                    },
                    traits)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(Reaches(6 * kTasks));
    for (const std::vector<int>& order : orders) {
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
        EXPECT_EQ(order.size(), static_cast<size_t>(kTasks));
    }
}

TEST_F(StreamWorkersTest, SynchronisingThreadAndWorkersShareTheWork) {
    unit::StreamBench& stream = NewStream();
    int plain = 0;  // guarded by the stream: one task at a time
    for (int task = 1; task <= 2000; ++task) {
        ASSERT_TRUE(Succeeds(stream.Enqueue([&] { return ++plain, Status(); })));
        if (task % 10 == 0) {
            ASSERT_TRUE(Succeeds(stream.Synchronize()));
            ASSERT_EQ(plain, task);
        }
    }
}

}  // namespace
}  // namespace advstep
