// SPDX-License-Identifier: Apache-2.0
// Replays that are waited for, refused or given up, and how long a model lives.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "advance_step/fault_injection.h"
#include "conformance/replay_fixture.h"

namespace conformance {
namespace {

TEST_F(ReplayTest, ExecuteWaitsForTheEnd) {
    const Model model = CaptureMarks({1, 2});
    for (const int timeout : {-1, 60000}) {
        EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), timeout)));
    }
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2}));
}

TEST_F(ReplayTest, ExecuteRefusesABadTimeout) {
    const Model model = CaptureMarks({1});
    for (const int timeout : {0, -2, INT32_MIN}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecute(model.Get(), timeout),
                            {"aclmdlRIExecute: ", "timeout"}, {timeout}));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

TEST_F(ReplayTest, ExecuteEndsInTimeAndTheReplayGoesOn) {
    const Stream stream = MakeStream();
    const auto held = CaptureGate();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(held->model.Get(), 5),
                        {"aclmdlRIExecute: "}));
    EXPECT_TRUE(held->entered.Wait());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(held->model.Get()),
                        {"aclmdlRIDestroy: "}));
    held->opened.Set();
    EXPECT_TRUE(IsOk(Replay(held->model, stream)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(held->model.Release())));
}

// A timed call starts no host function on the calling thread.
TEST_F(ReplayTest, TimedExecuteRunsOnTheLibrarysThreads) {
    const Stream stream = MakeStream();
    const auto mine = std::make_shared<std::atomic<int>>(0);
    const std::thread::id caller = std::this_thread::get_id();
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(),
                                          [=] { *mine += std::this_thread::get_id() == caller; })));
    });
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecute(model.Get(), 60000)));
    }
    EXPECT_EQ(*mine, 0);
}

TEST_F(ReplayTest, ExecuteIsRefusedInAHostFunction) {
    const Stream stream = MakeStream();
    const Model model = CaptureMarks({1});
    const aclmdlRI handle = model.Get();
    const auto status = std::make_shared<std::atomic<int>>(-1);
    ASSERT_TRUE(
        IsOk(support::Enqueue(stream.Get(), [=] { *status = aclmdlRIExecute(handle, -1); })));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(*status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

TEST_F(ReplayTest, HostFunctionsMayQueueReplays) {
    const Stream stream = MakeStream();
    const Model model = CaptureMarks({1});
    const aclmdlRI handle = model.Get();
    const aclrtStream same = stream.Get();
    const auto status = std::make_shared<std::atomic<int>>(-1);
    ASSERT_TRUE(
        IsOk(support::Enqueue(same, [=] { *status = aclmdlRIExecuteAsync(handle, same); })));
    ASSERT_TRUE(support::Eventually([&] { return *status != -1; }));
    EXPECT_EQ(*status, ACL_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(same)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
}

// Codes.
TEST_F(ReplayTest, RefusesNullAndWrongHandles) {
    const Stream stream = MakeStream();
    Model model = CaptureMarks({});
    aclmdlRI destroyed = model.Release();
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(destroyed)));
    int local = 0;
    const Event event = support::MakeEvent();
    for (void* const bad :
         {destroyed, stream.Get(), event.Get(), static_cast<void*>(support::CurrentContext()),
          static_cast<void*>(&local), reinterpret_cast<void*>(uintptr_t{8})}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(bad, stream.Get()),
                            {"aclmdlRIExecuteAsync: ", "modelRI"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecute(bad, -1),
                            {"aclmdlRIExecute: ", "modelRI"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(bad),
                            {"aclmdlRIDestroy: ", "modelRI"}));
    }
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclmdlRIExecuteAsync(nullptr, stream.Get()), {"modelRI"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRIExecute(nullptr, -1), {"modelRI"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRIDestroy(nullptr), {"modelRI"}));
}

TEST_F(ReplayTest, AnOldHandleStaysInvalid) {
    const Stream stream = MakeStream();
    const aclmdlRI old = CaptureMarks({}).Release();
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(old)));
    std::vector<Model> models;
    for (int i = 0; i < 50; ++i) {
        models.push_back(CaptureMarks({}));
        ASSERT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(old, stream.Get())));
    }
}

TEST_F(ReplayTest, RefusesAModelOfAnotherContext) {
    const aclrtContext primary = support::CurrentContext();
    const Model model = CaptureMarks({1});
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const Stream stream = MakeStream();
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_CONTEXT, Queue(model, stream), {"aclmdlRIExecuteAsync: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CONTEXT, aclmdlRIExecute(model.Get(), -1)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
}

TEST_F(ReplayTest, DestroyNeedsNoContext) {
    const aclmdlRI model = CaptureMarks({1}).Release();
    std::thread([model] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclmdlRIExecute(model, -1)));
        EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
    }).join();
}

// Destroying.
TEST_F(ReplayTest, DestroyIsRefusedUntilTheReplayHasEnded) {
    const Stream stream = MakeStream();
    const auto held = CaptureGate();
    ASSERT_TRUE(IsOk(Queue(held->model, stream)));
    ASSERT_TRUE(held->entered.Wait());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(held->model.Get())));
    held->opened.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(held->model.Release())));
}

TEST_F(ReplayTest, DestroyIsRefusedWhileAReplayIsQueued) {
    const Stream stream = MakeStream();
    Model model = CaptureMarks({1});
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
}

TEST_F(ReplayTest, AnAbortedReplayHasEnded) {
    const Stream stream = MakeStream();
    Model model = CaptureMarks({1});
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
}

// With a branch: its part is queued elsewhere, and must not wait for what is dropped.
TEST_F(ReplayTest, AReplayGoesWithADestroyedStream) {
    Model model;
    {
        const Stream stream = MakeStream();
        const Stream side = MakeStream();
        model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
            Order(stream, side);
            EXPECT_TRUE(IsOk(recorder_.Mark(side.Get(), 2)));
            Order(side, stream);
        });
    }
    Stream stream = MakeStream();
    uint64_t hold = 0;  // it is destroyed before the replay begins
    ASSERT_TRUE(IsOk(advstepHoldStream(stream.Get(), &hold)));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    EXPECT_TRUE(IsOk(aclrtDestroyStreamForce(stream.Release())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_TRUE(IsOk(advstepReleaseHold(hold)));
}

TEST_F(ReplayTest, AModelOutlivesItsStreamsAndEvents) {
    Model model;
    {
        const Stream stream = MakeStream();
        const Stream side = MakeStream();
        model = Capture(stream.Get(), [&] {
            Order(stream, side);
            EXPECT_TRUE(IsOk(recorder_.Mark(side.Get(), 1)));
            Order(side, stream);
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
        });
    }
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    const Stream fresh = MakeStream();
    EXPECT_TRUE(IsOk(Replay(model, fresh)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2}));
}

TEST_F(ReplayTest, AModelGoesWithItsContext) {
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    const aclmdlRI model = CaptureMarks({1}).Release();
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream)));
    }
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>(10, 1)) << "the context waits for its streams";
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecute(model, -1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(model)));
}

TEST_F(ReplayTest, AModelStaysWhenAnotherContextEnds) {
    const aclrtContext primary = support::CurrentContext();
    Model model = CaptureMarks({1});
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const aclmdlRI other = CaptureMarks({2}).Release();
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(other)));
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
}

TEST_F(ReplayTest, AModelGoesWithItsDeviceAndTheRuntime) {
    const aclmdlRI first = CaptureMarks({1}).Release();
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(first)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecute(first, -1)));
    const aclmdlRI second = CaptureMarks({1}).Release();
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecute(second, -1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(second)));
}

}  // namespace
}  // namespace conformance
