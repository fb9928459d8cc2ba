// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_TRACE: the tasks of streams, and what they wait for.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/traced_runtime.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/own_table.h"
#include "support/tensor.h"

namespace {

using conformance::DeviceTrace;
using conformance::kKernel;
using conformance::TraceTest;
using support::AdvanceStepBatch;
using support::IsCode;
using support::IsOk;

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

TEST_F(TraceTest, AGraphsWaitForARecordOutsideOfItIsNamed) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(
        IsOk(aclrtStreamWaitEventWithFlag(stream.Get(), event.Get(), 0, ACL_EVENT_WAIT_EXTERNAL)));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [] {})));
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model)));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.On(track), (std::vector<std::string>{"event wait", "host function"}));
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

// Captures a task group of one launch.
aclmdlRI CaptureGroup(aclrtStream stream, const std::function<aclError()>& launch,
                      aclrtTaskGrp* group) {
    aclmdlRI model = nullptr;
    EXPECT_TRUE(IsOk(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream)));
    EXPECT_TRUE(IsOk(launch()));
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream, group)));
    EXPECT_TRUE(IsOk(aclmdlRICaptureEnd(stream, &model)));
    return model;
}

// The updates are of a launch of few rows, and of one that is long enough to wake a thread.
TEST_F(TraceTest, ALaunchOfATaskGroupIsThatOfItsUpdate) {
    const support::Stream stream = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    AdvanceStepBatch captured(support::MakeBatch(5, 3, 16, 4, 1));
    AdvanceStepBatch few(support::MakeBatch(7, 3, 16, 4, 2));
    AdvanceStepBatch many(support::MakeBatch(20000, 19999, 16, 1, 3));
    ASSERT_TRUE(IsOk(captured.Plan()));
    aclrtTaskGrp group = nullptr;
    aclmdlRI const model = CaptureGroup(
        stream.Get(), [&] { return captured.Launch(stream.Get()); }, &group);
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    for (AdvanceStepBatch* const update : {&few, &many}) {
        ASSERT_TRUE(IsOk(update->Plan()));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(stream.Get(), group)));
        ASSERT_TRUE(IsOk(update->Launch(stream.Get())));
        ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(stream.Get())));
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model)));
    EXPECT_TRUE(many.Holds(support::Advanced(many.Data())));
    const DeviceTrace trace = Finish();
    const std::vector<DeviceTrace::Slice> launches = trace.Named(kKernel, track);
    ASSERT_EQ(launches.size(), 3U);
    for (size_t i = 0; i < launches.size(); ++i) {
        EXPECT_EQ(launches[i].Arg("rows"), std::vector<int64_t>({5, 7, 20000})[i]);
    }
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

// The launches of task groups in the trace.

support::Signal launchEntered;
support::Signal launchOpened;

// The launch that adds 1 stays until the test lets it go.
void HoldOwn(const advance_step::op::CoreContext& /*core*/, const void* payload) {
    if (static_cast<const support::OwnPayload*>(payload)->add == 1) {
        launchEntered.Set();
        EXPECT_TRUE(launchOpened.Wait());
    }
}

const advance_step::op::KernelProgram kHeldProgram = advance_step::op::MakeKernelProgram(
    support::kOwnTable.call, nullptr, {&HoldOwn, &support::CommitOwn});

TEST_F(TraceTest, ALaunchThatIsReplacedWhileItRunsIsDescribedItself) {
    launchEntered = support::Signal();
    launchOpened = support::Signal();
    const support::Stream stream = support::MakeStream();
    const support::Stream updates = support::MakeStream();
    const std::string track = TrackOf(stream.Get());
    const support::DeviceBuffer inMemory(std::vector<int64_t>(4, 10));
    const support::DeviceBuffer outMemory(std::vector<int64_t>(4, 0));
    const support::Tensor in(support::TensorSpec{{4}, inMemory.Get(), ACL_INT64});
    const support::Tensor out(support::TensorSpec{{4}, outMemory.Get(), ACL_INT64});
    support::OwnCall captured(in.Get(), nullptr, out.Get(), 1, 4);
    support::OwnCall update(in.Get(), nullptr, out.Get(), 2, 4);
    captured.plan.rows = 5;
    update.plan.rows = 7;
    for (support::OwnCall* const call : {&captured, &update}) {
        call->plan.program = &kHeldProgram;
        ASSERT_TRUE(IsOk(call->Plan()));
    }
    aclrtTaskGrp group = nullptr;
    aclmdlRI const model = CaptureGroup(
        stream.Get(), [&] { return captured.Run(stream.Get()); }, &group);
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(launchEntered.Wait());
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(updates.Get(), group)));
    ASSERT_TRUE(IsOk(update.Run(updates.Get())));
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(updates.Get())));
    launchOpened.Set();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(outMemory.Download<int64_t>(), std::vector<int64_t>(4, 11));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(outMemory.Download<int64_t>(), std::vector<int64_t>(4, 12));
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model)));
    const DeviceTrace trace = Finish();
    const std::vector<DeviceTrace::Slice> launches = trace.Named(support::kOwnTable.call, track);
    ASSERT_EQ(launches.size(), 2U);
    EXPECT_EQ(launches[0].Arg("rows"), 5);
    EXPECT_EQ(launches[1].Arg("rows"), 7);
}

}  // namespace
