// SPDX-License-Identifier: Apache-2.0
// Reports of findings: once, counted, suppressed, and their effect on the process.

#include "src/base/sanitizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace advstep {
namespace {

SanitizerSettings SettingsWith(SanitizerAction action) {
    SanitizerSettings settings;
    settings.checks = BitOf(SanitizerCheck::kMemory);
    settings.action = action;
    return settings;
}

void ReportHere() {
    Finding finding(SanitizerCheck::kMemory, "freed_in_use", "a block");
    finding.Stack("work", "queued by", CallStack::Here());
    Report(finding);
}

[[noreturn]] void FindThrice(const SanitizerSettings& settings) {
    (void)StartSanitizer(settings);
    for (int i = 0; i < 3; ++i) {
        ReportHere();
    }
    std::exit(EXIT_SUCCESS);
}

TEST(SanitizerTest, IsOffAtFirst) { EXPECT_FALSE(SanitizingAny()); }

TEST(SanitizerTest, ReportLeavesTheExitStatus) {
    EXPECT_EXIT(FindThrice(SettingsWith(SanitizerAction::kReport)), testing::ExitedWithCode(0),
                "memory: freed_in_use: a block(.|\n)*3 findings at 1 place\n"
                "  3 times: memory: freed_in_use: a block");
}

TEST(SanitizerTest, FailChangesTheExitStatus) {
    EXPECT_EXIT(FindThrice(SettingsWith(SanitizerAction::kFail)), testing::ExitedWithCode(1),
                "3 times");
}

TEST(SanitizerTest, StopEndsTheProcessAtTheFinding) {
    EXPECT_EXIT(FindThrice(SettingsWith(SanitizerAction::kStop)), testing::KilledBySignal(SIGABRT),
                "a block");
}

TEST(SanitizerTest, SuppressedFindingsAreNone) {
    SanitizerSettings settings = SettingsWith(SanitizerAction::kFail);
    settings.suppressions = {"*libc.so*"};
    EXPECT_EXIT(FindThrice(settings), testing::ExitedWithCode(0), "^$");
}

TEST(SanitizerTest, FileHasALineWithItsCount) {
    SanitizerSettings settings = SettingsWith(SanitizerAction::kReport);
    settings.file = testing::TempDir() + "/sanitizer_findings_" + std::to_string(getpid());
    EXPECT_EXIT(FindThrice(settings), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(FindThrice(settings), testing::ExitedWithCode(0), "");
    std::stringstream text;
    text << std::ifstream(settings.file).rdbuf();
    std::string line;
    int lines = 0;
    while (std::getline(text, line)) {
        ++lines;
        EXPECT_EQ(line.find(R"({"check":"memory","finding":"freed_in_use",)"), 0U) << line;
        EXPECT_NE(line.find(R"("count":3 )"), std::string::npos) << line;
    }
    EXPECT_EQ(lines, 2);
    (void)unlink(settings.file.c_str());
}

TEST(SanitizerTest, FileThatCannotBeOpenedIsRefused) {
    SanitizerSettings settings = SettingsWith(SanitizerAction::kReport);
    settings.file = testing::TempDir();
    const Status started = StartSanitizer(settings);
    EXPECT_EQ(started.code(), 100008);
    EXPECT_FALSE(SanitizingAny());
}

}  // namespace
}  // namespace advstep
