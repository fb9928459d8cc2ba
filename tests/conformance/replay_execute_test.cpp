// SPDX-License-Identifier: Apache-2.0
// Calls of aclmdlRIExecute at the same time: each returns what became of its own replay.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "conformance/capture_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

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
