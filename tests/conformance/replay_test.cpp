// SPDX-License-Identifier: Apache-2.0
// Replays: their order, what their host functions may do, and executions at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "conformance/capture_fixture.h"
#include "conformance/replay_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

TEST_F(ReplayTest, IsInStreamOrder) {
    const Stream stream = MakeStream();
    const Model model = CaptureMarks({2, 3});
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 4)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(ReplayTest, ReturnsBeforeItHasRun) {
    const Stream stream = MakeStream();
    const auto held = CaptureGate();
    ASSERT_TRUE(IsOk(Queue(held->model, stream)));
    ASSERT_TRUE(held->entered.Wait()) << "a replay makes progress on its own";
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    held->opened.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(ReplayTest, AnyNumberOfTimes) {
    const Stream stream = MakeStream();
    const Model model = CaptureMarks({1});
    {
        const HostGate gate(stream.Get());
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE(IsOk(Queue(model, stream)));
        }
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>(200, 1));
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(IsOk(Replay(model, stream)));
    }
    EXPECT_EQ(recorder_.Values(), std::vector<int>(220, 1));
}

TEST_F(ReplayTest, SeveralModelsTakeTurnsInAStream) {
    const Stream stream = MakeStream();
    const Model one = CaptureMarks({1, 2});
    const Model two = CaptureMarks({3});
    std::vector<int> expected;
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(IsOk(Queue(one, stream)));
        ASSERT_TRUE(IsOk(Queue(two, stream)));
        expected.insert(expected.end(), {1, 2, 3});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), expected);
}

TEST_F(ReplayTest, TakesTheDefaultStream) {
    const Model model = CaptureMarks({1});
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
}

TEST_F(ReplayTest, IsWhatEventsAreRecordedBehind) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Model model = CaptureMarks({1, 2});
    const Event event = support::MakeEvent();
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(other.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder_.Mark(other.Get(), 3)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3}));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3, 1, 2}));
}

// Two replays of one model never run at the same time, on whatever streams.
TEST_F(ReplayTest, OfOneModelRunOneAfterAnother) {
    struct Counts {
        std::atomic<int> inside{0}, most{0}, runs{0};
    };
    const auto counts = std::make_shared<Counts>();
    Model model;
    {
        const Stream stream = MakeStream();
        model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [counts] {
                const int now = ++counts->inside;
                int most = counts->most;
                while (most < now && !counts->most.compare_exchange_weak(most, now)) {
                }
            })));
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [counts] { ++counts->runs; })));
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [counts] { --counts->inside; })));
        });
    }
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) {
        streams.push_back(MakeStream());
    }
    for (int i = 0; i < 50; ++i) {
        for (const Stream& stream : streams) {
            ASSERT_TRUE(IsOk(Queue(model, stream)));
        }
    }
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (const Stream& stream : streams) {
        threads.emplace_back([&stream, context] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(counts->runs, 200);
    EXPECT_EQ(counts->most, 1);
}

// In the order in which they were queued, though the first one's stream is held.
TEST_F(ReplayTest, OfOneModelOnAHeldStreamDoesNotBlockForEver) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Model model = CaptureMarks({1});
    {
        const HostGate gate(first.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(Queue(model, first)));
        ASSERT_TRUE(IsOk(Queue(model, second)));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 1}));
}

TEST_F(ReplayTest, OfDifferentModelsRunIndependently) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const auto held = CaptureGate();
    const Model model = CaptureMarks({1});
    ASSERT_TRUE(IsOk(Queue(held->model, first)));
    ASSERT_TRUE(held->entered.Wait());
    EXPECT_TRUE(IsOk(Replay(model, second)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    held->opened.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
}

TEST_F(ReplayTest, WhileAnotherStreamIsCaptured) {
    const Stream stream = MakeStream();
    const Stream captured = MakeStream();
    const Model model = CaptureMarks({1});
    Begin(captured.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    End(captured.Get());
}

// Host functions of a replay.
TEST_F(ReplayTest, HostFunctionsHaveTheContextOfTheStream) {
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const Stream stream = MakeStream();
    const auto wrong = std::make_shared<std::atomic<int>>(0);
    const auto runs = std::make_shared<std::atomic<int>>(0);
    Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [=] {
            aclrtContext current = nullptr;
            *wrong += aclrtGetCurrentContext(&current) != ACL_SUCCESS || current != context;
            ++*runs;
        })));
    });
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EXPECT_EQ(support::CurrentContext(), primary);
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
    }
    EXPECT_EQ(*runs, 20);
    EXPECT_EQ(*wrong, 0);
}

TEST_F(ReplayTest, HostFunctionsMayNotWaitForTheReplay) {
    const Stream stream = MakeStream();
    const aclrtStream handle = stream.Get();
    const auto status = std::make_shared<std::atomic<int>>(-1);
    const Model model = Capture(handle, [&] {
        EXPECT_TRUE(
            IsOk(support::Enqueue(handle, [=] { *status = aclrtSynchronizeStream(handle); })));
    });
    for (int i = 0; i < 20; ++i) {
        *status = -1;
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        ASSERT_EQ(*status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    }
}

// A replay may not wait for itself through a branch either.
TEST_F(ReplayTest, HostFunctionsOfABranchMayNotWaitForTheReplay) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const aclrtStream handle = stream.Get();
    const auto status = std::make_shared<std::atomic<int>>(-1);
    const Model model = Capture(handle, [&] {
        Order(stream, side);
        EXPECT_TRUE(
            IsOk(support::Enqueue(side.Get(), [=] { *status = aclrtSynchronizeStream(handle); })));
        Order(side, stream);
    });
    for (int i = 0; i < 20; ++i) {
        *status = -1;
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        ASSERT_EQ(*status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    }
}

// aclmdlRIExecute.

// Calls of aclmdlRIExecute at the same time: each returns what became of its own replay.

class ReplayExecuteTest : public CaptureTest {};

// The second call's replay is queued when the first one's fails.
TEST_F(ReplayExecuteTest, AFailureDropsNoOtherExecution) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    const Signal go;
    const auto runs = std::make_shared<std::atomic<int>>(0);
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [go, runs] {
            EXPECT_TRUE(go.Wait());
            if (++*runs == 1) {
                throw std::runtime_error("the first one fails");
            }
        })));
        EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
    });
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclmdlRIExecute(model.Get(), support::kShort)));
    }
    go.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 1}));
}

// Each replay has more failures than a stream keeps.
TEST_F(ReplayExecuteTest, EachOfManyIsToldOfItsFailures) {
    constexpr int kThreads = 40;
    const Stream stream = MakeStream();
    const Signal go;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [go] { EXPECT_TRUE(go.Wait()); })));
        for (int i = 0; i < 20; ++i) {
            EXPECT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
        }
    });
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::atomic<int> calling{0};
    std::atomic<int> told{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            ++calling;
            told += aclmdlRIExecute(model.Get(), -1) == ACL_ERROR_FAILURE ? 1 : 0;
        });
    }
    EXPECT_TRUE(support::Eventually([&] { return calling == kThreads; }));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(model.Get(), support::kShort)));
    go.Set();
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(told, kThreads);
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

// There are more of them than a model has streams for.
TEST_F(ReplayExecuteTest, ThoseThatExpireAreRunLater) {
    constexpr int kCalls = 100;
    const Stream stream = MakeStream();
    const Signal go;
    const auto runs = std::make_shared<std::atomic<int>>(0);
    Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [go, runs] {
            EXPECT_TRUE(go.Wait());
            ++*runs;
        })));
    });
    for (int i = 0; i < kCalls; ++i) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(model.Get(), 1)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model.Get())));
    go.Set();
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(*runs, kCalls + 1) << "replays run one after another";
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
}

}  // namespace
}  // namespace conformance
