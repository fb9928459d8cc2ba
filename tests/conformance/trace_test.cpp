// ADVANCE_STEP_TRACE: what is in the file.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/device_trace.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::AdvanceStepBatch;
using support::DeviceTrace;
using support::IsCode;
using support::IsOk;
using support::Settings;

constexpr char kKernel[] = "aclnnAdvanceStep";

// A traced runtime with device 0 current.
class TraceTest : public testing::Test {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Start({})); }

    void Start(Settings settings) {
        settings["ADVANCE_STEP_TRACE"] = file_.Path();
        guard_.reset();
        guard_ = std::make_unique<support::SettingsGuard>(settings);
        ASSERT_TRUE(IsOk(guard_->Status()));
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    }

    // Ends the runtime.
    DeviceTrace Finish() {
        guard_.reset();
        return DeviceTrace(file_.Path());
    }

    static std::string TrackOf(aclrtStream stream) {
        int32_t id = -1;
        EXPECT_TRUE(IsOk(aclrtStreamGetId(stream, &id)));
        return "stream " + std::to_string(id);
    }

    support::TempFile file_{""};

 private:
    support::Watchdog watchdog_{std::chrono::seconds(240)};
    std::unique_ptr<support::SettingsGuard> guard_;
};

TEST_F(TraceTest, EveryTaskIsOnItsStreamsTrackInOrder) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    support::DeviceBuffer memory(4096);
    support::PinnedArray<char> host(4096);
    const support::Event event = support::MakeEvent();
    AdvanceStepBatch batch(support::MakeBatch(5, 3, 16, 4, 1));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 4096, 0, 96, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(memory.Get(), 4096, host.Get(), 300,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpy2dAsync(memory.Get(), 64, host.Get(), 32, 16, 4,
                                        ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [] {})));
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));

    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.On(track), (std::vector<std::string>{"fill", "copy", "copy", "host function",
                                                         kKernel, "event record"}));
    EXPECT_EQ(trace.One("fill", track).Arg("bytes"), 96);
    const std::vector<DeviceTrace::Slice> copies = trace.Named("copy", track);
    EXPECT_EQ(copies[0].Arg("bytes"), 300);
    EXPECT_EQ(copies[1].Arg("bytes"), 64);
    const DeviceTrace::Slice kernel = trace.One(kKernel, track);
    EXPECT_EQ(kernel.category, "kernel");
    EXPECT_EQ(kernel.Arg("rows"), 5);
    EXPECT_GE(kernel.Arg("cores"), 1);
    EXPECT_FALSE(kernel.args.contains("code"));
    EXPECT_EQ(kernel.Arg("task"), copies[0].Arg("task") + 3);
    EXPECT_EQ(kernel.process, "device 0");
    EXPECT_TRUE(trace.Arrows().empty());
    EXPECT_TRUE(trace.Instants().empty());
}

TEST_F(TraceTest, ABatchOfCopiesIsOneSliceWithAllBytes) {
    support::DeviceBuffer memory(64);
    support::PinnedArray<char> host(64);
    void* dsts[] = {memory.Get(), memory.At(32)};
    void* srcs[] = {host.Get(), host.Get() + 16};
    size_t room[] = {32, 32};
    size_t sizes[] = {16, 8};
    aclrtMemcpyBatchAttr attr{};
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    size_t first = 0;
    size_t wrong = 0;
    ASSERT_TRUE(
        IsOk(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 2, &attr, &first, 1, &wrong, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    const DeviceTrace trace = Finish();
    ASSERT_EQ(trace.Named("copies").size(), 1U);
    EXPECT_EQ(trace.Named("copies")[0].Arg("bytes"), 24);
    EXPECT_EQ(trace.Named("copies")[0].Arg("copies"), 2);
}

TEST_F(TraceTest, AWaitLastsFromBeingOldestToTheRecordWithAnArrow) {
    const support::Stream ahead = support::MakeStream();
    const support::Stream behind = support::MakeStream();
    const std::string aheadTrack = TrackOf(ahead.Get());
    const std::string behindTrack = TrackOf(behind.Get());
    const support::Event event = support::MakeEvent();
    {
        const support::HostGate gate(ahead.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), ahead.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(behind.Get(), event.Get())));
    }
    ASSERT_TRUE(IsOk(support::Enqueue(behind.Get(), [] {})));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(behind.Get())));

    const DeviceTrace trace = Finish();
    const DeviceTrace::Slice held = trace.One("host function", aheadTrack);
    const DeviceTrace::Slice record = trace.One("event record", aheadTrack);
    const DeviceTrace::Slice wait = trace.One("event wait", behindTrack);
    EXPECT_EQ(wait.category, "wait");
    EXPECT_LT(wait.begin, held.end) << "it began while the other stream was held";
    EXPECT_GE(wait.end, record.end);
    EXPECT_GE(trace.One("host function", behindTrack).begin, wait.end);
    ASSERT_EQ(trace.Arrows().size(), 1U);
    EXPECT_EQ(trace.Arrows()[0].from.begin, record.begin);
    EXPECT_EQ(trace.Arrows()[0].from.track, aheadTrack);
    EXPECT_EQ(trace.Arrows()[0].to.begin, wait.begin);
    EXPECT_EQ(trace.Arrows()[0].to.track, behindTrack);
}

TEST_F(TraceTest, EachWaitForARecordHasItsOwnArrow) {
    const support::Event event = support::MakeEvent();
    const support::Stream source = support::MakeStream();
    std::vector<support::Stream> streams;
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), source.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(source.Get())));
    for (int i = 0; i < 3; ++i) {  // long after the record as well
        streams.push_back(support::MakeStream());
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(streams.back().Get(), event.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(streams.back().Get())));
    }
    const DeviceTrace trace = Finish();
    ASSERT_EQ(trace.Arrows().size(), 3U);
    std::set<std::string> targets;
    for (const DeviceTrace::Arrow& arrow : trace.Arrows()) {
        EXPECT_EQ(arrow.from.name, "event record");
        EXPECT_EQ(arrow.to.name, "event wait");
        targets.insert(arrow.to.track);
    }
    EXPECT_EQ(targets.size(), 3U);
}

TEST_F(TraceTest, OtherWaitsAreSlicesToo) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    aclrtNotify notify = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, 0)));
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify, stream.Get(), 0)));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [] {})));
    ASSERT_TRUE(IsOk(aclrtRecordNotify(notify, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.On(track), (std::vector<std::string>{"notify wait", "host function"}));
    EXPECT_EQ(trace.One("notify wait", track).category, "wait");
    EXPECT_EQ(trace.Named("notify record").size(), 1U);
    EXPECT_GE(trace.One("notify wait", track).end, trace.Named("notify record")[0].begin);
}

TEST_F(TraceTest, ABlockingCallbackIsASliceThatLastsUntilItHasRun) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    std::thread reporter([&, context = support::CurrentContext()] {
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        ASSERT_TRUE(
            IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream.Get())));
        ASSERT_TRUE(
            IsOk(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtProcessReport(-1)));
    });
    reporter.join();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.On(track), std::vector<std::string>{"callback"});
}

TEST_F(TraceTest, AFailedTaskCarriesItsCode) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    reference::AdvanceStepData data = support::MakeBatch(5, 3, 16, 4, 2);
    data.seqLens[1] = -7;
    AdvanceStepBatch batch(data);
    ASSERT_TRUE(IsCode(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, batch.Run(stream.Get())));
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    ASSERT_TRUE(IsCode(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.One(kKernel, track).Arg("code"), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(trace.One(kKernel, track).Arg("rows"), 5);
    EXPECT_EQ(trace.One("host function", track).Arg("code"), ACL_ERROR_FAILURE);
}

TEST_F(TraceTest, WhatAStoppedStreamSkipsIsMarked) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    const support::Signal go;
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [go] {
        (void)go.Wait();
        throw std::runtime_error("thrown by a test");
    })));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [] {})));
    go.Set();
    ASSERT_TRUE(IsCode(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.One("host function", track).Arg("code"), ACL_ERROR_FAILURE);
    ASSERT_EQ(trace.Instants().size(), 1U);
    const DeviceTrace::Slice skipped = trace.Instants()[0];
    EXPECT_EQ(skipped.name, "host function");
    EXPECT_EQ(skipped.category, "skipped");
    EXPECT_EQ(skipped.track, track);
    EXPECT_GE(skipped.begin, trace.One("host function", track).end);
}

TEST_F(TraceTest, AWaitThatIsAbortedIsMarkedAsSkipped) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    aclrtNotify notify = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, 0)));
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify, stream.Get(), 0)));
    ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.One("notify wait", track).category, "skipped");
    EXPECT_EQ(trace.One("notify wait", track).Arg("skipped"), 1);
}

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
        return track.rfind("graph branch ", 0) == 0;
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
