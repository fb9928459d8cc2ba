// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_TRACE: core threads, devices, graphs, long runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/traced_runtime.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/table.h"

namespace {

using conformance::DeviceTrace;
using conformance::kKernel;
using conformance::TraceTest;
using support::AdvanceStepBatch;
using support::IsOk;

struct CoresCase {
    const char* name;
    const char* threads;
    const char* order;
    int64_t rows;
};

class TraceCoresTest : public TraceTest, public testing::WithParamInterface<CoresCase> {};

TEST_P(TraceCoresTest, CoreThreadsLieInsideTheirKernelAndPlayEveryCore) {
    ASSERT_NO_FATAL_FAILURE(Start({{"ADVANCE_STEP_THREADS", GetParam().threads},
                                   {"ADVANCE_STEP_CORE_ORDER", GetParam().order}}));
    AdvanceStepBatch batch(support::MakeBatch(GetParam().rows, GetParam().rows - 1, 16, 1, 3));
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(IsOk(batch.Run(nullptr)));
        batch.Upload();
    }
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&stream)));
    const std::string track = TrackOf(stream);
    const DeviceTrace trace = Finish();
    const std::vector<DeviceTrace::Slice> kernels = trace.Named(kKernel, track);
    ASSERT_EQ(kernels.size(), 4U);
    size_t chunks = 0;
    for (const DeviceTrace::Slice& kernel : kernels) {
        std::map<int64_t, int64_t> cores;  // by phase
        for (const DeviceTrace::Slice& chunk : trace.Named(kKernel)) {
            if (chunk.category != "cores" || chunk.Arg("task") != kernel.Arg("task")) {
                continue;
            }
            ++chunks;
            cores[chunk.Arg("phase")] += chunk.Arg("cores");
            EXPECT_TRUE(chunk.Within(kernel));
            EXPECT_EQ("stream " + std::to_string(chunk.Arg("stream")), track);
            EXPECT_EQ(chunk.track.rfind("core thread ", 0), 0U) << chunk.track;
            EXPECT_EQ(chunk.process, kernel.process);
        }
        EXPECT_EQ(cores.size(), 2U) << "a check and a commit phase";
        for (const auto& [phase, count] : cores) {
            EXPECT_EQ(count, kernel.Arg("cores")) << "phase " << phase;
        }
    }
    EXPECT_EQ(chunks + kernels.size(), trace.Named(kKernel).size());
}

INSTANTIATE_TEST_SUITE_P(Machines, TraceCoresTest,
                         testing::Values(CoresCase{"OneThread", "1", "ascending", 100},
                                         CoresCase{"FewRows", "4", "ascending", 100},
                                         CoresCase{"Shuffled", "4", "7", 400},
                                         CoresCase{"ManyRows", "3", "ascending", 40000}),
                         support::CaseName());

TEST_F(TraceTest, EachDeviceIsAProcess) {
    std::vector<std::thread> threads;
    for (const int32_t device : {0, 1}) {
        threads.emplace_back([device] {
            ASSERT_TRUE(IsOk(aclrtSetDevice(device)));
            const support::Stream stream = support::MakeStream();
            AdvanceStepBatch batch(support::MakeBatch(40, 39, 16, 4, 4));
            for (int i = 0; i < 50; ++i) {
                ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
                batch.Upload();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.Processes(), (std::set<std::string>{"device 0", "device 1"}));
    std::map<std::string, int> kernels;
    std::map<std::string, std::set<std::string>> tracks;
    for (const DeviceTrace::Slice& slice : trace.Slices()) {
        kernels[slice.process] += slice.category == "kernel" ? 1 : 0;
        if (slice.category == "kernel") {
            tracks[slice.process].insert(slice.track);
        }
    }
    EXPECT_EQ(kernels, (std::map<std::string, int>{{"device 0", 50}, {"device 1", 50}}));
    EXPECT_EQ(tracks["device 0"].size(), 1U);
    EXPECT_NE(tracks["device 0"], tracks["device 1"]);
}

TEST_F(TraceTest, ADeviceThatDoesNothingIsNotShown) {
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [] {})));
    EXPECT_EQ(Finish().Processes(), std::set<std::string>{"device 0"});
}

TEST_F(TraceTest, AReplayShowsItsBranchesWithArrows) {
    const support::Stream main = support::MakeStream();
    const support::Stream side = support::MakeStream();
    const std::string mainTrack = TrackOf(main.Get());
    const std::string sideTrack = TrackOf(side.Get());
    const support::Event forked = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    const support::Event joined = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    support::DeviceBuffer memory(64);
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(main.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 64, 1, 8, main.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(forked.Get(), main.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(side.Get(), forked.Get())));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.At(32), 32, 2, 16, side.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(joined.Get(), side.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(main.Get(), joined.Get())));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(main.Get(), &model)));
    constexpr size_t kReplays = 3;
    for (size_t i = 0; i < kReplays; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, main.Get())));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(main.Get())));

    const DeviceTrace trace = Finish();
    const std::set<std::string> tracks = trace.Tracks();
    const auto branch = std::find_if(tracks.begin(), tracks.end(), [](const std::string& track) {
        return track.rfind("model branch ", 0) == 0;
    });
    ASSERT_NE(branch, tracks.end());
    EXPECT_EQ(trace.Named("fill", mainTrack).size(), kReplays);
    EXPECT_EQ(trace.Named("fill", *branch).size(), kReplays);
    EXPECT_TRUE(trace.On(sideTrack).empty()) << "nothing has run there";
    size_t toBranch = 0;
    size_t toMain = 0;
    for (const DeviceTrace::Arrow& arrow : trace.Arrows()) {
        toBranch +=
            arrow.from.track == mainTrack && arrow.from.name == "fill" && arrow.to.track == *branch
                ? 1
                : 0;
        toMain += arrow.from.track == *branch && arrow.from.name == "fill" &&
                          arrow.to.track == mainTrack && arrow.to.name == "event wait"
                      ? 1
                      : 0;
    }
    EXPECT_EQ(toBranch, kReplays);
    EXPECT_EQ(toMain, kReplays);
}

// More events than are kept, so that the file is written meanwhile.
TEST_F(TraceTest, IsValidAtAnyTime) {
    support::DeviceBuffer memory(64);
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&stream)));
    const std::string track = TrackOf(stream);
    size_t seen = 0;
    constexpr size_t kRounds = 6;
    constexpr size_t kTasks = 500;
    for (size_t round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < kTasks; ++i) {
            ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 64, 1, 64, nullptr)));
        }
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        const size_t now = DeviceTrace(file_.Path()).Named("fill").size();
        EXPECT_GE(now, seen);
        seen = now;
    }
    EXPECT_GT(seen, 0U) << "nothing was written before the end";
    EXPECT_EQ(Finish().Named("fill", track).size(), kRounds * kTasks);
}

}  // namespace
