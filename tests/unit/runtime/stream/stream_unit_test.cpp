// SPDX-License-Identifier: Apache-2.0
// Tests of streams: enqueue, order, tickets, claims, failures, ends, wakes, and brief tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"
#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/runtime/stream/two_streams.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

class StreamUnitTest : public unit::TwoStreamsTest {};

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

// Failures, and the end of a stream.

class StreamLifeTest : public testing::Test {
 protected:
    support::Watchdog watchdog_{std::chrono::seconds(60)};
    unit::CountingWorkers workers_;
    Context context_;
    Stream streamA_;
    Stream streamB_;
    unit::StreamBench a_{&streamA_, 0x157, &workers_, &context_};
    unit::StreamBench b_{&streamB_, 0x257, &workers_, &context_};
    std::atomic<int> count_{0};

    void StopOnFailure() {
        ASSERT_TRUE(Succeeds(streamA_.SetStopOnFailure(a_.GetHandle(), unit::kCaller, true)));
    }
};

TEST_F(StreamLifeTest, FirstFailureIsReportedOnceAndLaterTasksRun) {
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 3")));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507015, "query 4")));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize(), {"query 3"}));
    EXPECT_EQ(count_, 2);
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
}

TEST_F(StreamLifeTest, FailureStaysInItsStream) {
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(b_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    EXPECT_TRUE(Succeeds(b_.Synchronize()));
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize()));
}

TEST_F(StreamLifeTest, ExceptionsAreFailures) {
    ASSERT_TRUE(Succeeds(a_.Enqueue([]() -> Status { throw std::runtime_error("torn"); })));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, a_.Synchronize(), {"torn"}));
    ASSERT_TRUE(Succeeds(a_.Enqueue([]() -> Status { throw 3; })));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FAILURE, a_.Synchronize(), {"exception"}));
    EXPECT_FALSE(InsideTask());
}

TEST_F(StreamLifeTest, FailureIsToldOnlyToThoseWhoWaitedForIt) {
    Ticket before;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &before)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailure(before.sequence)));
    EXPECT_TRUE(FailsWith(507035, streamA_.TakeFailure(before.sequence + 1)));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailure()));
}

TEST_F(StreamLifeTest, EveryPlaceHasItsFirstFailure) {
    Ticket between;
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 3")));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 4")));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &between)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507015, "query 5")));
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    EXPECT_TRUE(FailsWith(507035, streamA_.TakeFailure(between.sequence), {"query 3"}));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailure(between.sequence)));
    EXPECT_TRUE(FailsWith(507015, streamA_.TakeFailure(), {"query 5"}));
}

TEST_F(StreamLifeTest, OfManyFailuresTheFirstAndTheLastAreKept) {
    const Ticket before = streamA_.Now();
    for (int failure = 1; failure <= 100; ++failure) {
        ASSERT_TRUE(Succeeds(a_.EnqueueFailure(500000 + failure)));
    }
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    EXPECT_TRUE(FailsWith(500001, streamA_.TakeFailure(before.sequence + 99)));
    EXPECT_TRUE(FailsWith(500100, streamA_.TakeFailure()));
    EXPECT_TRUE(Succeeds(streamA_.TakeFailure()));
}

TEST_F(StreamLifeTest, StoppedStreamSkipsAndRefusesUntilReported) {
    StopOnFailure();
    std::atomic<int> marks{0};
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 3")));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&marks, unit::kEventRecord)));
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    EXPECT_EQ(count_, 0);
    EXPECT_EQ(marks, 1);  // marks are reached all the same
    EXPECT_TRUE(FailsWith(507035, a_.EnqueueCount(&count_), {"stopped", "query 3"}));
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize(), {"query 3"}));
    EXPECT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 1);
}

TEST_F(StreamLifeTest, StoppedStreamWaitsForNobody) {
    StopOnFailure();
    Ticket never;
    ASSERT_TRUE(Succeeds(b_.EnqueueCount(&count_, {}, &never)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(a_.EnqueueWait(never)));
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize()));
    EXPECT_EQ(count_, 0);
}

TEST_F(StreamLifeTest, FailureModeIsTheContextsAndSetOnceAStream) {
    StopOnFailure();
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          streamA_.SetStopOnFailure(a_.GetHandle(), unit::kCaller, false)));
    ASSERT_TRUE(Succeeds(b_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(b_.EnqueueCount(&count_)));
    EXPECT_TRUE(FailsWith(507035, b_.Synchronize()));
    EXPECT_EQ(count_, 0);
    EXPECT_TRUE(Succeeds(streamB_.SetStopOnFailure(b_.GetHandle(), unit::kCaller, false)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(FailsWith(507035, a_.Synchronize()));
    EXPECT_EQ(count_, 1);
}

TEST_F(StreamLifeTest, CloseRunsWhatIsPending) {
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Close(false)));
    EXPECT_EQ(count_, 1);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, a_.EnqueueCount(&count_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, a_.Close(false)));
}

TEST_F(StreamLifeTest, DropRunsOnlyMarks) {
    std::atomic<int> marks{0};
    Ticket last;
    Ticket never;
    ASSERT_TRUE(Succeeds(b_.EnqueueCount(&count_, {}, &never)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    ASSERT_TRUE(Succeeds(a_.EnqueueWait(never)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&marks, unit::kEventRecord, &last)));
    EXPECT_TRUE(Succeeds(a_.Close(true)));
    EXPECT_EQ(count_, 0);
    EXPECT_EQ(marks, 1);
    EXPECT_TRUE(streamA_.Reached(last.sequence));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, a_.Synchronize()));
}

TEST_F(StreamLifeTest, ClosingLogsAnUnreportedFailure) {
    SetLogLevel(LogLevel::kError);
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 3")));
    testing::internal::CaptureStderr();
    EXPECT_TRUE(Succeeds(a_.Close(false)));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("query 3"), std::string::npos) << log;
    EXPECT_NE(log.find("507035"), std::string::npos) << log;
}

TEST_F(StreamLifeTest, NextLifeKnowsNothingOfTheOneBefore) {
    StopOnFailure();
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035)));
    ASSERT_TRUE(Succeeds(WaitFor(streamA_.Now())));
    const Ticket old = streamA_.Now();
    testing::internal::CaptureStderr();
    ASSERT_TRUE(Succeeds(a_.Close(false)));
    testing::internal::GetCapturedStderr();
    a_.Open(0x357);
    EXPECT_TRUE(streamA_.Reached(old.sequence));
    EXPECT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 1);
    EXPECT_TRUE(Succeeds(streamA_.SetStopOnFailure(0x357, unit::kCaller, true)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.Synchronize(0x157, unit::kCaller)));
}

TEST_F(StreamLifeTest, HostFunctionCanNeitherCloseNorDropItsOwnStream) {
    Status closed;
    Status forced;
    Status dropped;
    ASSERT_TRUE(Succeeds(a_.Enqueue(
        [&] {
            closed = a_.Close(false);
            forced = a_.Close(true);
            dropped = streamA_.Drop(a_.GetHandle(), unit::kCaller);
            return Status();
        },
        unit::kHostFunction)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    for (const Status* const status : {&closed, &forced, &dropped}) {
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, *status));
    }
    EXPECT_EQ(count_, 1);
    EXPECT_TRUE(Succeeds(a_.EnqueueCount(&count_)));
}

TEST_F(StreamLifeTest, DroppedWorkIsNotRun) {
    Ticket dropped;
    Ticket run;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &dropped)));
    EXPECT_TRUE(Succeeds(streamA_.Drop(a_.GetHandle(), unit::kCaller)));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &run)));  // the stream lives on
    EXPECT_TRUE(Succeeds(a_.Synchronize()));
    EXPECT_EQ(count_, 1);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.CheckRan(dropped.sequence)));
    EXPECT_TRUE(Succeeds(streamA_.CheckRan(run.sequence)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, streamA_.Drop(0x257, unit::kCaller)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, streamA_.Drop(0x157, 0x2C5)));
}

TEST_F(StreamLifeTest, SkippedWorkSaysForWhichFailure) {
    StopOnFailure();
    Ticket failed;
    Ticket skipped;
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &failed)));
    ASSERT_TRUE(Succeeds(a_.EnqueueFailure(507035, "query 3")));
    ASSERT_TRUE(Succeeds(a_.EnqueueCount(&count_, {}, &skipped)));
    ASSERT_TRUE(Succeeds(WaitFor(skipped)));
    EXPECT_TRUE(Succeeds(streamA_.CheckRan(failed.sequence)));
    EXPECT_TRUE(FailsWith(507035, streamA_.CheckRan(skipped.sequence)));
}

TEST_F(StreamLifeTest, BelongsToItsOwnDeviceAndContext) {
    StreamIdentity identity;
    EXPECT_TRUE(streamA_.BelongsTo(nullptr, nullptr, &identity));
    EXPECT_EQ(identity.handle, a_.GetHandle());
    EXPECT_TRUE(streamA_.BelongsTo(nullptr, &context_, &identity));
    const Context other;
    EXPECT_FALSE(streamA_.BelongsTo(nullptr, &other, &identity));
    EXPECT_FALSE(streamA_.BelongsTo(reinterpret_cast<const Device*>(&other), nullptr, &identity));
    ASSERT_TRUE(Succeeds(a_.Close(false)));
    EXPECT_FALSE(streamA_.BelongsTo(nullptr, nullptr, &identity));
}

// Tasks during which a synchronisation keeps the stream's lock. Only tasks that run without it are
// inside a task, for the calls that they make.

enum class Way { kLocked, kUnlocked };

class StreamBriefTest : public testing::Test {
 protected:
    void SetUp() override {
        isBrief = false;
        asked = 0;
    }

    Status Enqueue(const unit::TaskTraits& traits, Ticket* ticket = nullptr) {
        return bench_.Enqueue(
            [this] {
                ways_.push_back(InsideTask() ? Way::kUnlocked : Way::kLocked);
                return Status();
            },
            traits, ticket);
    }

    static inline bool isBrief;
    static inline int asked;
    static constexpr TaskType kAsks = {nullptr, [](const Task&) { return ++asked, isBrief; }};
    static constexpr unit::TaskTraits kByData{TaskKind::kPlain, TaskLength::kByData, &kAsks};

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    unit::CountingWorkers workers_;
    Stream stream_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
    std::vector<Way> ways_;
};

TEST_F(StreamBriefTest, BriefTasksRunUnderTheLockAndOthersDoNot) {
    ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    ASSERT_TRUE(Succeeds(Enqueue({})));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked, Way::kUnlocked}));
}

// Enqueuers wait meanwhile.
TEST_F(StreamBriefTest, TheLockIsKeptForFourTasks) {
    for (int task = 0; task < 6; ++task) {
        ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    }
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked, Way::kLocked, Way::kLocked, Way::kLocked,
                                       Way::kUnlocked, Way::kUnlocked}));
}

TEST_F(StreamBriefTest, WorkersAreWokenForAStreamThatWaitsForABriefTask) {
    Stream other;
    unit::StreamBench waiting(&other, 0x257, &workers_);
    for (int place = 0; place < 3; ++place) {
        SCOPED_TRACE(place);
        ways_.clear();
        Ticket tickets[3];
        for (Ticket& ticket : tickets) {
            ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief, &ticket)));
        }
        ASSERT_TRUE(Succeeds(waiting.EnqueueWait(tickets[place])));
        EXPECT_FALSE(waiting.RunSome(true));
        workers_.wakes = 0;
        ASSERT_TRUE(Succeeds(bench_.Synchronize()));
        EXPECT_EQ(workers_.wakes, 1);
        EXPECT_EQ(ways_, (std::vector<Way>(3, Way::kLocked)));
        EXPECT_TRUE(waiting.RunSome(true));
    }
}

TEST_F(StreamBriefTest, ATaskByDataIsAskedOnce) {
    for (const bool brief : {true, false}) {
        ways_.clear();
        asked = 0;
        isBrief = brief;
        ASSERT_TRUE(Succeeds(Enqueue(kByData)));
        EXPECT_EQ(asked, 0);
        ASSERT_TRUE(Succeeds(bench_.Synchronize()));
        EXPECT_EQ(asked, 1);
        EXPECT_EQ(ways_, (std::vector<Way>{brief ? Way::kLocked : Way::kUnlocked}));
    }
}

TEST_F(StreamBriefTest, ATaskByDataIsAskedAfterTheTaskBeforeIt) {
    ASSERT_TRUE(Succeeds(bench_.Enqueue([] { return isBrief = true, Status(); }, unit::kBrief)));
    ASSERT_TRUE(Succeeds(Enqueue(kByData)));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked}));
}

// Its memory may be gone.
TEST_F(StreamBriefTest, ASkippedTaskIsNotAsked) {
    ASSERT_TRUE(Succeeds(Enqueue(kByData)));
    ASSERT_TRUE(
        Succeeds(stream_.Abort(bench_.GetHandle(), unit::kCaller, ACL_ERROR_RT_STREAM_ABORT)));
    ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(ways_.size(), 1u);
}

TEST_F(StreamBriefTest, AFailureOfABriefTaskByDataIsReported) {
    isBrief = true;
    ASSERT_TRUE(Succeeds(bench_.Enqueue([] { return Status(507035, "told by a test"); }, kByData)));
    ASSERT_TRUE(Succeeds(Enqueue(kByData)));
    EXPECT_TRUE(FailsWith(507035, bench_.Synchronize(), {"told by a test"}));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked}));
}

TEST_F(StreamBriefTest, WorkersDoNotKeepTheLock) {
    isBrief = true;
    ASSERT_TRUE(Succeeds(Enqueue(kByData)));
    EXPECT_TRUE(bench_.RunSome(true));
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kUnlocked}));
}

TEST_F(StreamBriefTest, TheWatcherStepsAsideForATaskByDataThatIsNotBrief) {
    workers_.watches = true;
    for (const bool brief : {true, false}) {
        isBrief = brief;
        workers_.stepsAside = 0;
        ASSERT_TRUE(Succeeds(Enqueue(kByData)));
        EXPECT_TRUE(bench_.RunSome(true));
        EXPECT_EQ(workers_.stepsAside, brief ? 0 : 1);
    }
}

TEST_F(StreamBriefTest, ATaskByDataThatIsNotBriefIsLeftToWorkersBeforeATimeout) {
    const auto synchronize = [&](int32_t timeout) {
        WaitLimit limit;
        EXPECT_TRUE(Succeeds(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit)));
        return stream_.Synchronize(bench_.GetHandle(), unit::kCaller, limit);
    };
    ASSERT_TRUE(Succeeds(Enqueue(kByData)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, synchronize(5)));
    EXPECT_TRUE(ways_.empty());
    isBrief = true;
    EXPECT_TRUE(Succeeds(synchronize(100000)));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kUnlocked}));
}

// Tests of the waking of a worker for work that nobody waits for.

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
