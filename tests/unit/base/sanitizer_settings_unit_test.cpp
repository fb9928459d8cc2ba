// SPDX-License-Identifier: Apache-2.0
// The settings of the sanitizer: names of checks, actions and patterns.

#include "src/base/sanitizer_settings.h"

#include <gtest/gtest.h>

#include <fstream>

namespace advstep {
namespace {

TEST(SanitizerSettingsTest, ChecksAreNamesWithCommas) {
    uint32_t checks = 0;
    EXPECT_TRUE(ReadSanitizerChecks("memory,race", &checks));
    EXPECT_EQ(checks, BitOf(SanitizerCheck::kMemory) | BitOf(SanitizerCheck::kRace) |
                          BitOf(SanitizerCheck::kSlots));
    EXPECT_TRUE(ReadSanitizerChecks("all", &checks));
    EXPECT_EQ(checks, 0x3FU);
    EXPECT_TRUE(ReadSanitizerChecks("host,race", &checks));
    EXPECT_EQ(checks, BitOf(SanitizerCheck::kHost) | BitOf(SanitizerCheck::kRace) |
                          BitOf(SanitizerCheck::kSlots));
    EXPECT_TRUE(ReadSanitizerChecks("all,host", &checks));
    EXPECT_EQ(checks, 0x7FU);
    for (const char* off : {"", "off"}) {
        checks = 77;
        EXPECT_TRUE(ReadSanitizerChecks(off, &checks));
        EXPECT_EQ(checks, 0U);
    }
}

TEST(SanitizerSettingsTest, OtherNamesAreRefused) {
    uint32_t checks = 77;
    for (const char* text :
         {",", "memory,", "off,race", "memory,,race", "Memory", "slots", "host", "memory,host"}) {
        EXPECT_FALSE(ReadSanitizerChecks(text, &checks)) << text;
    }
    EXPECT_EQ(checks, 77U);
}

TEST(SanitizerSettingsTest, Actions) {
    SanitizerAction action = SanitizerAction::kReport;
    EXPECT_TRUE(ReadSanitizerAction("stop", &action));
    EXPECT_EQ(action, SanitizerAction::kStop);
    EXPECT_FALSE(ReadSanitizerAction("abort", &action));
}

TEST(SanitizerSettingsTest, PatternsHaveStars) {
    EXPECT_TRUE(MatchesPattern("Run", "Run"));
    EXPECT_TRUE(MatchesPattern("libtorch*", "libtorch_npu.so"));
    EXPECT_TRUE(MatchesPattern("*::Run*", "caches::Cache::Run(int)"));
    EXPECT_TRUE(MatchesPattern("a*b*c", "a-b-b-c"));
    EXPECT_TRUE(MatchesPattern("*", ""));
    EXPECT_FALSE(MatchesPattern("Run", "Runs"));
    EXPECT_FALSE(MatchesPattern("a*b", "a-b-c"));
    EXPECT_FALSE(MatchesPattern("", "a"));
}

TEST(SanitizerSettingsTest, SuppressionsAreLinesOfAFile) {
    const std::string path = testing::TempDir() + "/sanitizer_suppressions";
    std::ofstream(path) << "# comment\n\n  Function* \nlibx.so\n";
    std::vector<std::string> patterns;
    EXPECT_TRUE(ReadSuppressions(path, &patterns));
    EXPECT_EQ(patterns, (std::vector<std::string>{"Function*", "libx.so"}));
    EXPECT_FALSE(ReadSuppressions(path + ".none", &patterns));
}

}  // namespace
}  // namespace advstep
