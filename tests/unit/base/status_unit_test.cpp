// SPDX-License-Identifier: Apache-2.0
// Tests of Status: codes, messages, moves, lack of memory.

#include "src/base/status.h"

#include <gtest/gtest.h>

#include "unit/status_check.h"

namespace advstep {
namespace {

TEST(StatusTest, IsSuccessByDefault) {
    const Status status;
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(status.code(), 0);
    EXPECT_STREQ(status.message(), "");
}

TEST(StatusTest, KeepsCodeAndMessage) {
    const Status status(107000, "count is 3");
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.code(), 107000);
    EXPECT_STREQ(status.message(), "count is 3");
}

TEST(StatusTest, FailureWithoutMemoryForWordsSaysSo) {
    const Status status(200000);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.code(), 200000);
    EXPECT_STREQ(status.message(), "no memory was left to say more");
}

TEST(StatusTest, ErrorFormatsItsMessage) {
    EXPECT_TRUE(unit::FailsWith(561002, Error(561002, "{} is {}; expected {}", "numSeqs", 8, "< 8"),
                                {"numSeqs is 8; expected < 8"}));
}

TEST(StatusTest, MoveTakesTheMessageAlong) {
    Status from(507035, "query 3");
    const Status to = std::move(from);
    EXPECT_EQ(to.code(), 507035);
    EXPECT_STREQ(to.message(), "query 3");
}

TEST(StatusTest, SuccessIsCheapToCarry) { EXPECT_LE(sizeof(Status), 2 * sizeof(void*)); }

Status FirstFailureOf(int32_t first, int32_t second, int* calls) {
    const auto step = [calls](int32_t code) {
        ++*calls;
        return code == 0 ? Status() : Status(code, "step");
    };
    ADVSTEP_RETURN_IF_ERROR(step(first));
    ADVSTEP_RETURN_IF_ERROR(step(second));
    return Status(1, "end");
}

TEST(StatusTest, ReturnIfErrorLeavesAtTheFirstFailure) {
    int calls = 0;
    EXPECT_EQ(FirstFailureOf(7, 8, &calls).code(), 7);
    EXPECT_EQ(calls, 1);
}

TEST(StatusTest, ReturnIfErrorGoesOnAfterSuccess) {
    int calls = 0;
    EXPECT_EQ(FirstFailureOf(0, 8, &calls).code(), 8);
    EXPECT_EQ(FirstFailureOf(0, 0, &calls).code(), 1);
    EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace advstep
