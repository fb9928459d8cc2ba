// SPDX-License-Identifier: Apache-2.0
// Failures, and the end of a stream.
#include <gtest/gtest.h>

#include <stdexcept>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"
#include "support/watchdog.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

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

}  // namespace
}  // namespace advstep
