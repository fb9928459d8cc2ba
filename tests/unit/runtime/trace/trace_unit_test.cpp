// SPDX-License-Identifier: Apache-2.0
// Tests of the trace: tracks, arrows, forks, threads.

#include "src/runtime/trace/trace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "support/device_trace.h"
#include "support/host_work.h"
#include "support/settings.h"
#include "support/stderr_capture.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using support::DeviceTrace;

class TraceUnitTest : public testing::Test {
 protected:
    void SetUp() override { ASSERT_TRUE(unit::Succeeds(trace_.Open(file_.Path()))); }
    void TearDown() override { trace_.Close(); }

    // A slice of ten nanoseconds that begins at a time of the trace.
    TraceSlice At(int64_t time) const { return {"x", "y", start_ + time, start_ + time + 10}; }

    Ticket Place(uint64_t sequence) { return {stream_, sequence}; }

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    support::TempFile file_{""};
    Trace& trace_ = TheTrace();
    int64_t start_ = Trace::Now() + 1'000'000'000;  // after the trace began
    // Only compared.
    Stream* stream_ = reinterpret_cast<Stream*>(this);
};

TEST_F(TraceUnitTest, IsOnWhileItIsOpen) {
    EXPECT_TRUE(Trace::On());
    trace_.Close();
    EXPECT_FALSE(Trace::On());
    trace_.AddTask({1, 1}, Place(1), At(0), {}, {});
    EXPECT_TRUE(DeviceTrace(file_.Path()).Slices().empty());
    trace_.Close();
}

TEST_F(TraceUnitTest, AFailedOpenLeavesItOff) {
    EXPECT_FALSE(trace_.Open("/no-such-folder/trace.json").ok());
    EXPECT_FALSE(Trace::On());
}

TEST_F(TraceUnitTest, StreamsAndBranchesAreNamed) {
    const TraceTrack stream = trace_.AddStream(1, 5, false);
    const TraceTrack branch = trace_.AddStream(1, 6, true);
    trace_.AddTask(stream, Place(1), At(0), {}, {});
    trace_.AddTask(branch, Place(2), At(0), {}, {});
    trace_.Close();
    const DeviceTrace read(file_.Path());
    EXPECT_EQ(read.Tracks(), (std::set<std::string>{"stream 5", "model branch 6"}));
    EXPECT_EQ(read.Processes(), std::set<std::string>{"device 1"});
}

TEST_F(TraceUnitTest, AnArrowComesFromAPlaceThatIsKept) {
    const TraceTrack track = trace_.AddStream(0, 0, false);
    const TraceTrack other = trace_.AddStream(0, 1, false);
    trace_.AddTask(track, Place(1), At(0), {}, {});
    trace_.AddTask(other, {nullptr, 1}, At(20), {}, Place(1));
    trace_.AddTask(other, {nullptr, 2}, At(40), {}, Place(7));  // that never was
    trace_.Close();
    const DeviceTrace read(file_.Path());
    ASSERT_EQ(read.Arrows().size(), 1U);
    EXPECT_EQ(read.Arrows()[0].from.track, "stream 0");
    EXPECT_EQ(read.Arrows()[0].to.track, "stream 1");
}

TEST_F(TraceUnitTest, OldPlacesAreForgotten) {
    const TraceTrack track = trace_.AddStream(0, 0, false);
    const auto place = [&](uint64_t sequence) {
        trace_.AddTask(track, Place(sequence), At(static_cast<int64_t>(sequence) * 10), {}, {});
    };
    for (uint64_t i = 1; i <= Trace::kMostPlaces + 1; ++i) {
        place(i);
    }
    const TraceTrack other = trace_.AddStream(0, 1, false);
    constexpr int64_t kLate = int64_t{10} * (Trace::kMostPlaces + 5);
    trace_.AddTask(other, {nullptr, 1}, At(kLate), {}, Place(1));
    trace_.AddTask(other, {nullptr, 2}, At(kLate + 20), {}, Place(Trace::kMostPlaces));
    trace_.Close();
    const DeviceTrace read(file_.Path());
    const std::vector<DeviceTrace::Slice> late = read.Named("x", "stream 1");
    ASSERT_EQ(late.size(), 2U);
    ASSERT_EQ(read.Arrows().size(), 1U);
    EXPECT_EQ(read.Arrows()[0].to.begin, std::max(late[0].begin, late[1].begin));
}

TEST_F(TraceUnitTest, EachThreadHasItsCoreTrackOnEachDevice) {
    const auto play = [](int32_t device) {
        const TracedKernel kernel = TracedKernel::Now(device, "kernel");
        const CoreSlice slice(kernel, 0, 0, 4);
    };
    for (int i = 0; i < 2; ++i) {
        play(0);
        play(1);
    }
    std::thread([&] { play(0); }).join();
    trace_.Close();
    const DeviceTrace read(file_.Path());
    std::map<std::string, size_t> slices;
    for (const DeviceTrace::Slice& slice : read.Named("kernel")) {
        ++slices[slice.process + ", " + slice.track];
    }
    EXPECT_EQ(slices, (std::map<std::string, size_t>{{"device 0, core thread 0", 2},
                                                     {"device 0, core thread 1", 1},
                                                     {"device 1, core thread 0", 2}}));
}

TEST_F(TraceUnitTest, CoresAreNotTimedWithoutATrace) {
    trace_.Close();
    EXPECT_FALSE(TracedKernel::Now(0, "kernel").traced);
}

TEST_F(TraceUnitTest, WhatIsMissingIsLogged) {
    Trace::TryTo([] { throw std::bad_alloc(); });
    Trace::TryTo([] { throw std::bad_alloc(); });
    const support::StderrCapture capture;
    trace_.Close();
    EXPECT_NE(capture.Text().find("lacks 2 events"), std::string::npos) << capture.Text();
}

// Otherwise what is not written yet would be written twice.
TEST_F(TraceUnitTest, TheChildOfAForkDoesNotEndIt) {
    trace_.AddTask(trace_.AddStream(0, 0, false), Place(1), At(0), {}, {});
    const pid_t child = fork();
    if (child == 0) {
        trace_.Close();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(DeviceTrace(file_.Path()).Slices().empty());
    trace_.Close();
    EXPECT_EQ(DeviceTrace(file_.Path()).Slices().size(), 1U);
}

TEST_F(TraceUnitTest, ThreadsMayTellAtOnceAndWhileItEnds) {
    constexpr int kThreads = 4;
    constexpr uint64_t kTasks = 2000;
    const support::Signal go;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            ASSERT_TRUE(go.Wait());
            const TraceTrack track = trace_.AddStream(t % 2, t, false);
            for (uint64_t i = 1; i <= kTasks; ++i) {
                trace_.AddTask(track, Place(i * kThreads + static_cast<uint64_t>(t)),
                               At(static_cast<int64_t>(i) * 10), {}, Place(i));
            }
        });
    }
    go.Set();
    // More than the names of the tracks. A file that is being written cannot be parsed.
    ASSERT_TRUE(
        support::Eventually([&] { return std::filesystem::file_size(file_.Path()) > 4000; }));
    trace_.Close();
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_FALSE(DeviceTrace(file_.Path()).Slices().empty());
}

}  // namespace
}  // namespace advstep
