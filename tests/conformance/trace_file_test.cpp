// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_TRACE: when its file is opened, and what becomes of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "support/child_process.h"
#include "support/death_test_file.h"
#include "support/device_trace.h"
#include "support/full_disk.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/table.h"

namespace {

using namespace support;

constexpr char kTrace[] = "ADVANCE_STEP_TRACE";

// Runs count host functions on device 0.
void RunSome(int count) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [] {})));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

size_t RunsIn(const TempFile& file) {
    return DeviceTrace(file.Path()).Named("host function").size();
}

std::string Text(const TempFile& file) {
    std::ifstream stream(file.Path());
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

class TraceFileTest : public support::EndedRuntimeTest {};

struct BadPathCase {
    const char* name;
    const char* path;
    const char* why;
};

class TraceBadPathTest : public TraceFileTest, public testing::WithParamInterface<BadPathCase> {};

TEST_P(TraceBadPathTest, IsRefusedWithThePathAndTheReason) {
    const EnvironmentGuard environment(Settings{{kTrace, GetParam().path}});
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclInit(nullptr),
                        {"aclInit: ", kTrace, GetParam().path, GetParam().why}));
    EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclrtSetDevice(0),
                        {"aclrtSetDevice: ", kTrace, GetParam().path, GetParam().why}));
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "nothing was started";
}

INSTANTIATE_TEST_SUITE_P(Table, TraceBadPathTest,
                         testing::Values(BadPathCase{"NoFolder", "/no-such-folder/trace.json",
                                                     "No such file"},
                                         BadPathCase{"Folder", "/tmp", "Is a directory"},
                                         BadPathCase{"Full", "/dev/full", "No space left"},
                                         BadPathCase{"Empty", "", "the path of a file"}),
                         support::CaseName());

TEST_F(TraceFileTest, IsCompleteAfterFinalize) {
    const TempFile file("");
    {
        const SettingsGuard guard(Settings{{kTrace, file.Path()}});
        ASSERT_TRUE(IsOk(guard.Status()));
        ASSERT_NO_FATAL_FAILURE(RunSome(3));
        ASSERT_TRUE(IsOk(aclFinalize()));
        EXPECT_EQ(RunsIn(file), 3U);
    }
}

TEST_F(TraceFileTest, ARuntimeThatDidNothingLeavesAnEmptyTrace) {
    const TempFile file("old text");
    { const SettingsGuard guard(Settings{{kTrace, file.Path()}}); }
    EXPECT_TRUE(DeviceTrace(file.Path()).Slices().empty());
}

TEST_F(TraceFileTest, IsTakenFromTheConfigurationFile) {
    const TempFile file("");
    const TempFile config(std::string(R"({"advance_step": {"ADVANCE_STEP_TRACE": ")") +
                          file.Path() + R"("}})");
    ASSERT_TRUE(IsOk(aclInit(config.Path())));
    ASSERT_NO_FATAL_FAILURE(RunSome(2));
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(RunsIn(file), 2U);
}

TEST_F(TraceFileTest, IsTakenAtFirstDeviceUse) {
    const TempFile file("");
    {
        const EnvironmentGuard environment(Settings{{kTrace, file.Path()}});
        ASSERT_NO_FATAL_FAILURE(RunSome(2));
    }
    EXPECT_EQ(RunsIn(file), 2U);
}

TEST_F(TraceFileTest, AFullDiskEndsTheTraceAndNotTheWork) {
    const support::StderrCapture log;
    for (const int count : {5000, 20}) {  // full while it runs, and at its end
        const TempFile file("");
        const SettingsGuard guard(Settings{{kTrace, file.Path()}});
        ASSERT_TRUE(IsOk(guard.Status()));
        ASSERT_NO_FATAL_FAILURE(RunSome(1));
        const size_t told = log.Text().size();
        {
            const FullDisk disk(count == 20 ? 1000 : 100'000);
            ASSERT_NO_FATAL_FAILURE(RunSome(count));
            ASSERT_TRUE(IsOk(aclFinalize()));
        }
        const std::string message = log.Text().substr(told);
        EXPECT_NE(message.find(file.Path() + std::string("\" cannot be written any more")),
                  std::string::npos)
            << message;
        EXPECT_EQ(message.find("cannot"), message.rfind("cannot")) << "once: " << message;
        EXPECT_LT(RunsIn(file), static_cast<size_t>(count)) << "and what there is, is valid";
    }
}

TEST_F(TraceFileTest, EachStartBeginsANewTrace) {
    const TempFile file("");
    const EnvironmentGuard environment(Settings{{kTrace, file.Path()}});
    for (const int count : {5, 2}) {
        ASSERT_TRUE(IsOk(aclInit(nullptr)));
        ASSERT_NO_FATAL_FAILURE(RunSome(count));
        ASSERT_TRUE(IsOk(aclFinalize()));
        EXPECT_EQ(RunsIn(file), static_cast<size_t>(count));
    }
    unsetenv(kTrace);
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_NO_FATAL_FAILURE(RunSome(4));
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(RunsIn(file), 2U) << "a runtime without the setting leaves the file alone";
}

TEST_F(TraceFileTest, WhatOnlyChecksSettingsLeavesTheFileAlone) {
    const TempFile file("as it was");
    {
        const EnvironmentGuard environment{Settings{}};
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        setenv(kTrace, file.Path(), 1);
        ASSERT_TRUE(IsOk(aclnnInit(nullptr)));
        ASSERT_TRUE(IsOk(aclInit(nullptr))) << "too late for its settings";
        ASSERT_NO_FATAL_FAILURE(RunSome(2));
        unsetenv(kTrace);
    }
    EXPECT_EQ(Text(file), "as it was");
}

// Ranks that a launcher gives one environment, or a parent and what it starts.
class TraceOfTwoTest : public TraceFileTest,
                       public testing::WithParamInterface<ChildProcess::Kind> {};

TEST_P(TraceOfTwoTest, ASecondProcessIsRefusedUntilTheFirstHasEndedItsTrace) {
    const auto init = [](Words* words) { Keep(words, aclInit(nullptr)); };
    const TempFile file("");
    const EnvironmentGuard environment(Settings{{kTrace, file.Path()}});
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_NO_FATAL_FAILURE(RunSome(3));
    ChildProcess other(GetParam());
    const Words refused = other.Run(init);
    EXPECT_EQ(refused.code, ACL_ERROR_FILE_ATTR_INVALID);
    const std::string message = refused.text;
    EXPECT_NE(message.find("process " + std::to_string(getpid()) + " writes"), std::string::npos)
        << message;
    EXPECT_NE(message.find("%p"), std::string::npos) << message;
    ASSERT_TRUE(IsOk(aclFinalize()));
    EXPECT_EQ(RunsIn(file), 3U);
    EXPECT_EQ(other.Run(init).code, ACL_SUCCESS);
    EXPECT_EQ(other.Run([](Words* words) { Keep(words, aclFinalize()); }).code, ACL_SUCCESS);
    EXPECT_EQ(RunsIn(file), 0U) << "the trace of the other process";
}

INSTANTIATE_TEST_SUITE_P(Table, TraceOfTwoTest,
                         testing::Values(ChildProcess::Kind::kExec, ChildProcess::Kind::kFork),
                         [](const auto& row) {
                             return row.param == ChildProcess::Kind::kExec ? "Started" : "Forked";
                         });

// The children start anew and run only the death test's statement.
class TraceDeathTest : public TraceFileTest {
 protected:
    TraceDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

    void StartTraced(int count) const {
        setenv(kTrace, file_.c_str(), 1);
        if (aclInit(nullptr) != ACL_SUCCESS) {
            std::_Exit(3);
        }
        RunSome(count);
    }

    const std::string file_ = support::DeathTestFile();
};

TEST_F(TraceDeathTest, IsCompleteWhenTheProcessEndsWithoutFinalize) {
    EXPECT_EXIT(
        {
            StartTraced(7);
            std::exit(testing::Test::HasFailure() ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_EQ(DeviceTrace(file_).Named("host function").size(), 7U);
    unlink(file_.c_str());
}

TEST_F(TraceDeathTest, IsValidWhenTheProcessIsKilled) {
    constexpr int kRuns = 2000;  // more than are kept
    EXPECT_EXIT(
        {
            StartTraced(kRuns);
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
    const size_t runs = DeviceTrace(file_).Named("host function").size();
    EXPECT_GT(runs, 0U);
    EXPECT_LE(runs, static_cast<size_t>(kRuns));
    unlink(file_.c_str());
}

}  // namespace
