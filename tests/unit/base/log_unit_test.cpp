// SPDX-License-Identifier: Apache-2.0
// Tests of the log: levels, and whole lines from several threads.

#include "src/base/log.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace advstep {
namespace {

class LogTest : public testing::Test {
 protected:
    void TearDown() override { SetLogLevel(LogLevel::kError); }
};

constexpr LogLevel kLevels[] = {LogLevel::kError, LogLevel::kWarn, LogLevel::kInfo,
                                LogLevel::kDebug};

TEST_F(LogTest, IsOnUpToTheLevelSet) {
    for (const LogLevel set : kLevels) {
        SetLogLevel(set);
        for (const LogLevel level : kLevels) {
            EXPECT_EQ(LogEnabled(level), static_cast<int>(level) <= static_cast<int>(set))
                << static_cast<int>(level) << " at " << static_cast<int>(set);
        }
    }
}

TEST_F(LogTest, WritesOneLineToStandardError) {
    SetLogLevel(LogLevel::kDebug);
    testing::internal::CaptureStderr();
    Log(LogLevel::kError, "stream {} failed", 3);
    Log(LogLevel::kWarn, "b");
    Log(LogLevel::kInfo, "c");
    Log(LogLevel::kDebug, "d");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "advance_step error: stream 3 failed\nadvance_step warn: b\nadvance_step info: "
              "c\nadvance_step debug: d\n");
}

TEST_F(LogTest, WritesNothingAboveTheLevelSet) {
    SetLogLevel(LogLevel::kError);
    testing::internal::CaptureStderr();
    Log(LogLevel::kWarn, "hidden");
    SetLogLevel(LogLevel::kOff);
    Log(LogLevel::kError, "hidden");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
    testing::internal::CaptureStderr();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([thread] {
            for (int line = 0; line < 50; ++line) {
                Log(LogLevel::kError, "{}", std::string(60, static_cast<char>('a' + thread)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::istringstream lines(testing::internal::GetCapturedStderr());
    const std::string head = "advance_step error: ";
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        ASSERT_EQ(line.size(), head.size() + 60);
        EXPECT_EQ(line, head + std::string(60, line.back()));
    }
    EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace advstep
