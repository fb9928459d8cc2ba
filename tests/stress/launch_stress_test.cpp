// SPDX-License-Identifier: Apache-2.0
// AdvanceStep from several threads on several streams, large enough to be split over core threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "stress/launch_batch.h"

namespace {

using stress::BatchMemory;
using stress::kBlockSize;
using stress::kMaxBlocks;
using stress::LaunchBatch;

TEST(LaunchStressTest, ThreadsAdvanceTheirBatchesAtTheSameTime) {
    setenv("ADVANCE_STEP_THREADS", "3", 1);
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    std::vector<std::thread> threads;
    for (const int64_t numSeqs : {50000, 33000, 17, 900}) {
        threads.emplace_back([numSeqs] {
            constexpr int64_t kSteps = kBlockSize * kMaxBlocks;
            ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
            aclrtStream stream = nullptr;
            ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
            LaunchBatch batch(numSeqs, BatchMemory::kDevice);
            for (int64_t step = 1; step <= kSteps; ++step) {
                batch.Advance(stream);
                if (step % 13 == 0) {
                    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
                    batch.ExpectAfter(step);
                }
            }
            ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
            batch.ExpectAfter(kSteps);
            batch.Advance(stream);  // one more than the table holds
            EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
            batch.ExpectAfter(kSteps);
            ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    unsetenv("ADVANCE_STEP_THREADS");
}

}  // namespace
