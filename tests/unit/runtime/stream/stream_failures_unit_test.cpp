// SPDX-License-Identifier: Apache-2.0
// What a stream keeps of its failures, and which of them a call takes.
#include "src/runtime/stream/task_results.h"

#include <gtest/gtest.h>

#include <utility>

namespace advstep {
namespace {

constexpr uint64_t kGap = 10;  // a task in so many fails

// With the failures of tasks 10, 20, 30 and so on, whose codes are 1, 2, 3.
StreamFailures WithFailures(int32_t count) {
    StreamFailures failures;
    failures.Open();
    for (int32_t code = 1; code <= count; ++code) {
        failures.Add(kGap * static_cast<uint64_t>(code), Error(code, "task {} failed", code));
    }
    return failures;
}

TEST(StreamFailuresTest, TheFirstOfThoseThatACallCovers) {
    StreamFailures failures = WithFailures(3);
    EXPECT_EQ(failures.Take(0, 9).code(), 0);
    EXPECT_EQ(failures.Take(10, 20).code(), 2);
    EXPECT_EQ(failures.Take(0, 30).code(), 1);
    EXPECT_TRUE(failures.empty());
}

TEST(StreamFailuresTest, NewWorkIsRefusedUntilAllAreTaken) {
    StreamFailures failures = WithFailures(2);
    failures.RefuseNewWork(Error(1, "task 1 failed"));
    (void)failures.Take(0, 10);
    EXPECT_FALSE(failures.refusal().ok());
    (void)failures.Take(0, 20);
    EXPECT_TRUE(failures.refusal().ok());
}

// 15 are kept one by one. A later one is never a success: the latest stands for it.
TEST(StreamFailuresTest, NoFailureIsLostWhereThereAreTooMany) {
    StreamFailures failures = WithFailures(20);
    for (int32_t code = 1; code <= 20; ++code) {
        const uint64_t task = kGap * static_cast<uint64_t>(code);
        const Status taken = failures.Take(task - 1, task);
        EXPECT_EQ(taken.code(), code <= 15 ? code : 20) << code;
        EXPECT_EQ(taken.message(),
                  code <= 15 ? fmt::format("task {} failed", code) : "task 20 failed");
    }
    EXPECT_TRUE(failures.empty());
}

TEST(StreamFailuresTest, TheRestOfTooManyComesLater) {
    StreamFailures failures = WithFailures(20);
    EXPECT_EQ(failures.Take(0, 175).code(), 1);  // and with it those up to 17
    EXPECT_FALSE(failures.empty());
    EXPECT_EQ(failures.Take(0, 1000).code(), 20);
    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(failures.Take(0, 1000).code(), 0);
}

}  // namespace
}  // namespace advstep
