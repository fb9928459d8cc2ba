// SPDX-License-Identifier: Apache-2.0
// Kernels of many rows under way while the device is reset or the runtime ends.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "acl/acl.h"
#include "stress/launch_batch.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using stress::BatchMemory;
using stress::kBlockSize;
using stress::kMaxBlocks;
using stress::LaunchBatch;
using support::IsOk;

constexpr int64_t kRows = 100000;  // several threads play the cores

class TeardownStressTest : public support::EndedRuntimeTest {
 private:
    support::EnvironmentGuard threads_{{{"ADVANCE_STEP_THREADS", "3"}}};
};

TEST_F(TeardownStressTest, AResetLeavesTheKernelsOfOtherContextsAlone) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    std::atomic<bool> done{false};
    std::thread launcher([&] {
        constexpr int kRounds = 8;
        constexpr int64_t kSteps = kBlockSize * kMaxBlocks;
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
        for (int round = 0; round < kRounds; ++round) {
            LaunchBatch batch(kRows, BatchMemory::kRegistered);
            for (int64_t step = 1; step <= kSteps; ++step) {
                batch.Advance(nullptr);
                EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
            }
            batch.ExpectAfter(kSteps);
            batch.Unregister();
        }
        EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
        done = true;
    });
    while (!done) {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    }
    launcher.join();
    EXPECT_TRUE(IsOk(aclFinalize()));
}

TEST_F(TeardownStressTest, TheEndWaitsForAContextThatAnotherThreadDestroys) {
    constexpr int kRounds = 60;
    constexpr int64_t kMostSteps = 3;
    for (int round = 0; round < kRounds; ++round) {
        ASSERT_TRUE(IsOk(aclInit(nullptr)));
        const support::Signal launched;
        const support::Signal ended;
        std::thread destroyer([&] {
            aclrtContext context = nullptr;
            ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
            LaunchBatch batch(kRows, BatchMemory::kRegistered);
            launched.Set();
            // The context ends by this thread's call or by the end of the runtime, whichever is
            // faster; from then on launches are refused. At the end those that were not have run.
            int64_t steps = 0;
            while (steps < kMostSteps && batch.TryAdvance(nullptr)) {
                ++steps;
            }
            (void)aclrtDestroyContext(context);
            EXPECT_TRUE(ended.Wait());
            if (steps > 0) {
                batch.ExpectAfter(steps);
            }
        });
        EXPECT_TRUE(launched.Wait());
        EXPECT_TRUE(IsOk(aclFinalize()));
        ended.Set();
        destroyer.join();
    }
}

}  // namespace
