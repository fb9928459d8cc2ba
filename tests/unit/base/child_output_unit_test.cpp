// SPDX-License-Identifier: Apache-2.0
// Tools that are run for their output.

#include "src/base/child_output.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>

namespace advstep {
namespace {

using std::chrono::steady_clock;

steady_clock::time_point After(std::chrono::milliseconds time) {
    return steady_clock::now() + time;
}

bool HasNoChild() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

TEST(ChildOutputTest, IsAppended) {
    std::string output = "before: ";
    EXPECT_TRUE(
        ReadOutputOf({"/bin/echo", "two words", "x"}, After(std::chrono::minutes(1)), &output));
    EXPECT_EQ(output, "before: two words x\n");
    EXPECT_TRUE(HasNoChild());
}

TEST(ChildOutputTest, IsOfAProgramWithoutThisEnvironment) {
    setenv("ADVANCE_STEP_TEST_CHILD", "1", 1);
    std::string output;
    EXPECT_TRUE(ReadOutputOf({"/usr/bin/env"}, After(std::chrono::minutes(1)), &output));
    unsetenv("ADVANCE_STEP_TEST_CHILD");
    EXPECT_EQ(output, "PATH=/usr/local/bin:/usr/bin:/bin\nLC_ALL=C\n");
}

TEST(ChildOutputTest, OfAProgramThatGoesOnEndsAtTheTime) {
    const auto begin = steady_clock::now();
    std::string output;
    EXPECT_FALSE(
        ReadOutputOf({"/bin/sleep", "1000"}, After(std::chrono::milliseconds(20)), &output));
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(100));
    EXPECT_TRUE(HasNoChild());
}

TEST(ChildOutputTest, OfNoProgramIsNone) {
    std::string output;
    EXPECT_FALSE(ReadOutputOf({"/no/such/program"}, After(std::chrono::minutes(1)), &output));
    EXPECT_TRUE(output.empty());
}

}  // namespace
}  // namespace advstep
