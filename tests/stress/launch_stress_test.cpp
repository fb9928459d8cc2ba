// AdvanceStep from several threads on several streams, large enough to be split over core threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

namespace {

constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 4;

// The six tensors of one batch in device memory; table entries are distinct blocks.
class Batch {
 public:
    explicit Batch(int64_t numSeqs) : numSeqs_(numSeqs) {
        const int64_t rows[] = {numSeqs, numSeqs - 1, numSeqs,
                                numSeqs, numSeqs,     numSeqs * kMaxBlocks};
        const std::vector<int64_t> shapes[] = {{numSeqs}, {numSeqs - 1, 1}, {numSeqs},
                                               {numSeqs}, {numSeqs},        {numSeqs, kMaxBlocks}};
        for (size_t index = 0; index < 6; ++index) {
            void* memory = nullptr;
            const size_t bytes = static_cast<size_t>(rows[index]) * sizeof(int64_t);
            EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
            EXPECT_EQ(aclrtMemset(memory, bytes, 0, bytes), ACL_SUCCESS);
            memory_.push_back(memory);
            tensors_.push_back(aclCreateTensor(shapes[index].data(), shapes[index].size(),
                                               ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                               shapes[index].data(), shapes[index].size(), memory));
        }
        std::vector<int64_t> table(static_cast<size_t>(numSeqs * kMaxBlocks));
        std::iota(table.begin(), table.end(), int64_t{7});
        const size_t bytes = table.size() * sizeof(int64_t);
        EXPECT_EQ(aclrtMemcpy(memory_[5], bytes, table.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
                  ACL_SUCCESS);
    }

    ~Batch() {
        for (size_t index = 0; index < 6; ++index) {
            EXPECT_EQ(aclDestroyTensor(tensors_[index]), ACLNN_SUCCESS);
            EXPECT_EQ(aclrtFree(memory_[index]), ACL_SUCCESS);
        }
    }

    void Advance(aclrtStream stream) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_EQ(aclnnAdvanceStepGetWorkspaceSize(
                      tensors_[0], tensors_[1], tensors_[2], tensors_[3], tensors_[4], tensors_[5],
                      numSeqs_, numSeqs_ - 1, kBlockSize, &workspaceSize, &executor),
                  ACLNN_SUCCESS);
        ASSERT_EQ(aclnnAdvanceStep(nullptr, 0, executor, stream), ACLNN_SUCCESS);
    }

    // After `steps` advances of empty sequences: position steps - 1, in the row's own blocks.
    void ExpectAfter(int64_t steps) const {
        std::vector<int64_t> slots(static_cast<size_t>(numSeqs_));
        const size_t bytes = slots.size() * sizeof(int64_t);
        ASSERT_EQ(aclrtMemcpy(slots.data(), bytes, memory_[4], bytes, ACL_MEMCPY_DEVICE_TO_HOST),
                  ACL_SUCCESS);
        const int64_t position = steps - 1;
        for (int64_t row = 0; row + 1 < numSeqs_; ++row) {
            const int64_t block = 7 + row * kMaxBlocks + position / kBlockSize;
            ASSERT_EQ(slots[static_cast<size_t>(row)], block * kBlockSize + position % kBlockSize)
                << "row " << row;
        }
        ASSERT_EQ(slots.back(), -1);
    }

 private:
    int64_t numSeqs_;
    std::vector<void*> memory_;
    std::vector<aclTensor*> tensors_;
};

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
            Batch batch(numSeqs);
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
