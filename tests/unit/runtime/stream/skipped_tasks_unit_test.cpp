// SPDX-License-Identifier: Apache-2.0
// The reasons of the tasks that a stream has skipped.
#include "src/runtime/stream/task_results.h"

#include <gtest/gtest.h>

#include "acl/acl_base.h"

namespace advstep {
namespace {

TEST(SkippedTasksTest, AdjoiningTasksKeepTheirOwnReasons) {
    SkippedTasks skipped;
    skipped.StoppedWith(507035);
    for (const uint64_t sequence : {5, 6}) {
        EXPECT_EQ(skipped.Ended(sequence, TaskSkip::kStopped).AsStatus().code(), 507035);
    }
    skipped.StoppedWith(500001);
    skipped.Ended(7, TaskSkip::kStopped);
    skipped.Ended(8, TaskSkip::kAborted);
    skipped.Ended(9, TaskSkip::kDeviceAborted);
    EXPECT_EQ(skipped.CheckRan(4).code(), ACL_SUCCESS);
    EXPECT_EQ(skipped.CheckRan(5).code(), 507035);
    EXPECT_EQ(skipped.CheckRan(6).code(), 507035);
    EXPECT_EQ(skipped.CheckRan(7).code(), 500001);
    EXPECT_EQ(skipped.CheckRan(8).code(), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_EQ(skipped.CheckRan(9).code(), ACL_ERROR_RT_DEVICE_TASK_ABORT);
    EXPECT_EQ(skipped.CheckRan(10).code(), ACL_SUCCESS);
}

TEST(SkippedTasksTest, ATaskThatRunsEndsTheRow) {
    SkippedTasks skipped;
    skipped.Ended(1, TaskSkip::kAborted);
    skipped.Ended(3, TaskSkip::kDestroyed);
    EXPECT_EQ(skipped.CheckRan(2).code(), ACL_SUCCESS);
    EXPECT_EQ(skipped.CheckRan(3).code(), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(skipped.CheckRan(4).code(), ACL_SUCCESS);
}

// However often the reason changes, a task that was not run is never taken for one that was, and
// the first ones keep theirs.
TEST(SkippedTasksTest, TheReasonMayChangeAtEveryTask) {
    SkippedTasks skipped;
    skipped.StoppedWith(507035);
    skipped.Ended(1, TaskSkip::kStopped);
    for (uint64_t sequence = 2; sequence <= 100; ++sequence) {
        const bool even = sequence % 2 == 0;
        EXPECT_EQ(skipped.Ended(sequence, even ? TaskSkip::kAborted : TaskSkip::kDestroyed)
                      .AsStatus()
                      .code(),
                  even ? ACL_ERROR_RT_STREAM_ABORT : ACL_ERROR_RT_INVALID_HANDLE);
    }
    EXPECT_EQ(skipped.CheckRan(1).code(), 507035);
    for (uint64_t sequence = 2; sequence <= 100; ++sequence) {
        EXPECT_NE(skipped.CheckRan(sequence).code(), ACL_SUCCESS) << sequence;
    }
}

}  // namespace
}  // namespace advstep
