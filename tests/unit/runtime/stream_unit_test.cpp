// SPDX-License-Identifier: Apache-2.0
// Tests of streams: enqueue, order, tickets, checks, claims.

#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

#include <gtest/gtest.h>

#include <vector>

#include "acl/acl_base.h"
#include "support/watchdog.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

class StreamUnitTest : public testing::Test {
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

TEST_F(StreamUnitTest, EnqueueRunsNothing) {
    EXPECT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_EQ(count_, 0);
    EXPECT_FALSE(a_.Complete());
}

TEST_F(StreamUnitTest, SynchronizeRunsEverythingInOrder) {
    for (int value = 0; value < 100; ++value) {
        ASSERT_TRUE(Succeeds(Note(&a_, value)));
    }
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    ASSERT_EQ(order_.size(), 100U);
    for (int value = 0; value < 100; ++value) {
        EXPECT_EQ(order_[static_cast<size_t>(value)], value);
    }
    EXPECT_TRUE(a_.Complete());
}

// The failures of a replay are those after the last task before it.
TEST_F(StreamUnitTest, AFailureIsTakenBetweenTwoTasks) {
    for (const char* const message : {"one", "two", "three"}) {
        ASSERT_TRUE(Succeeds(a_.EnqueueFailure(ACL_ERROR_FAILURE, message)));
    }
    ASSERT_TRUE(a_.RunSome(true));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailureBetween(1, 1)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, streamA_.TakeFailureBetween(1, 2), {"two"}));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailureBetween(1, 2)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, streamA_.TakeFailureBetween(0, 3), {"one"}));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailure())) << "the third was reported with the first";
}

TEST_F(StreamUnitTest, EmptyStreamIsComplete) {
    EXPECT_TRUE(a_.Complete());
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(StreamUnitTest, TicketsCountTasks) {
    const Ticket before = streamA_.Now();
    Ticket first;
    Ticket second;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &first)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &second)));
    EXPECT_EQ(first.stream, &streamA_);
    EXPECT_EQ(first.sequence, before.sequence + 1);
    EXPECT_EQ(second.sequence, before.sequence + 2);
    EXPECT_EQ(streamA_.Now().sequence, second.sequence);
    EXPECT_TRUE(streamA_.Reached(before.sequence));
    EXPECT_FALSE(streamA_.Reached(first.sequence));
    EXPECT_TRUE(Succeeds(WaitFor(first)));
    EXPECT_TRUE(streamA_.Reached(first.sequence));
    EXPECT_FALSE(streamA_.Reached(second.sequence));
}

TEST_F(StreamUnitTest, SynchronizeRunsNothingQueuedLater) {
    ASSERT_TRUE(Succeeds(a_.Enqueue([this] { return a_.EnqueueCount(&count_); })));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 0);
    EXPECT_FALSE(a_.Complete());
}

TEST_F(StreamUnitTest, RecordsOfAnySizeKeepTheirBytes) {
    struct LargeTask : Task {
        int* sum;
        unsigned char bytes[3001];
    };
    int sum = 0;
    for (unsigned char value = 1; value <= 20; ++value) {
        ASSERT_TRUE(Succeeds(
            streamA_.Enqueue(a_.GetHandle(), unit::kCaller, sizeof(LargeTask), [&](void* memory) {
                auto* const task = new (memory) LargeTask;
                task->run = [](const Task& base) {
                    const auto& large = static_cast<const LargeTask&>(base);
                    for (const unsigned char byte : large.bytes) {
                        *large.sum += byte;
                    }
                    return Status();
                };
                task->sum = &sum;
                std::fill(std::begin(task->bytes), std::end(task->bytes), value);
                return task;
            })));
    }
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(sum, 210 * 3001);
}

TEST_F(StreamUnitTest, OtherHandlesAndContextsAreRefused) {
    bool complete = false;
    for (const Handle handle : {Handle{0}, Handle{0x257}, ~Handle{0}}) {
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.Check(handle, unit::kCaller)));
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.Synchronize(handle, unit::kCaller)));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                              streamA_.Query(handle, unit::kCaller, &complete)));
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.Close(handle, unit::kCaller, true)));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                              streamA_.SetStopOnFailure(handle, unit::kCaller, true)));
    }
    const Handle mine = a_.GetHandle();
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, streamA_.Check(mine, 0x2C5)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, streamA_.Synchronize(mine, 0x2C5)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, streamA_.Close(mine, 0x2C5, true)));
    EXPECT_TRUE(Succeeds(streamA_.Check(mine, unit::kCaller)));
}

TEST_F(StreamUnitTest, RefusedEnqueueConstructsNothing) {
    bool filled = false;
    const auto fill = [&](void*) -> Task* {
        filled = true;
        return nullptr;
    };
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE,
                          streamA_.Enqueue(0x999, unit::kCaller, sizeof(Task), fill)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT,
                          streamA_.Enqueue(a_.GetHandle(), 0x2C5, sizeof(Task), fill)));
    EXPECT_FALSE(filled);
}

struct WakeCase {
    const char* name;
    WorkerControl::Watch watch;
    unit::TaskTraits task;
    int wakes;
};

TEST_F(StreamUnitTest, EnqueueWakesWhoeverWouldNotLookInTime) {
    using Watch = WorkerControl::Watch;
    for (const WakeCase& row : {WakeCase{"Asleep", Watch::kAsleep, {}, 1},
                                WakeCase{"AsleepUnknown", Watch::kAsleep, unit::kUnknown, 1},
                                WakeCase{"AsleepHeavy", Watch::kAsleep, unit::kHeavy, 1},
                                WakeCase{"Napping", Watch::kNapping, {}, 0},
                                WakeCase{"NappingUnknown", Watch::kNapping, unit::kUnknown, 0},
                                WakeCase{"NappingHeavy", Watch::kNapping, unit::kHeavy, 1},
                                WakeCase{"Resting", Watch::kResting, {}, 0},
                                WakeCase{"RestingHeavy", Watch::kResting, unit::kHeavy, 1},
                                WakeCase{"Awake", Watch::kAwake, {}, 0},
                                WakeCase{"AwakeHeavy", Watch::kAwake, unit::kHeavy, 0}}) {
        workers_.SetWatch(row.watch);
        workers_.wakes = 0;
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, row.task)));
        EXPECT_EQ(workers_.wakes, row.wakes) << row.name;
    }
}

TEST_F(StreamUnitTest, LongTasksMakeTheWatcherStepAside) {
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(workers_.stepsAside, 0);
    int expected = 0;
    for (const unit::TaskTraits& task : {unit::kHeavy, unit::kUnknown, unit::kHostFunction}) {
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, task)));
        EXPECT_TRUE(Succeeds(a_.Synchronize()));
        EXPECT_EQ(workers_.stepsAside, ++expected);
    }
}

// A synchronisation without a timeout runs them by itself: no worker runs here.
TEST_F(StreamUnitTest, LongTasksAreLeftToWorkersBeforeATimeout) {
    for (const unit::TaskTraits& task : {unit::kHeavy, unit::kUnknown, unit::kHostFunction}) {
        WaitLimit limit;
        ASSERT_TRUE(Succeeds(MakeWaitLimit(5, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit)));
        count_ = 0;
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, task)));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                              a_.Get().Synchronize(a_.GetHandle(), unit::kCaller, limit)));
        EXPECT_EQ(count_, 0);
        EXPECT_TRUE(Succeeds(a_.Synchronize()));
        EXPECT_EQ(count_, 1);
    }
}

TEST_F(StreamUnitTest, RunSomeTakesABoundedNumberOfTasks) {
    EXPECT_FALSE(a_.RunSome(false));
    EXPECT_FALSE(a_.RunSome(true));
    for (int task = 0; task < 100; ++task) {
        ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    }
    EXPECT_TRUE(a_.RunSome(false));
    EXPECT_GT(count_, 0);
    EXPECT_LT(count_, 100);
    while (a_.RunSome(false)) {
    }
    EXPECT_EQ(count_, 100);
}

TEST_F(StreamUnitTest, KnowsWhenAThreadRunsATask) {
    bool inside = false;
    EXPECT_FALSE(InsideTask());
    ASSERT_TRUE(Succeeds(a_.Enqueue([&] { return inside = InsideTask(), Status(); })));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_TRUE(inside);
    EXPECT_FALSE(InsideTask());
}

}  // namespace
}  // namespace advstep
