// SPDX-License-Identifier: Apache-2.0
// A batch for AdvanceStep that is large enough to be split over core threads.
#ifndef ADVANCE_STEP_TESTS_STRESS_LAUNCH_BATCH_H_
#define ADVANCE_STEP_TESTS_STRESS_LAUNCH_BATCH_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "support/page_vector.h"

namespace stress {

inline constexpr int64_t kBlockSize = 16;
inline constexpr int64_t kMaxBlocks = 4;

enum class BatchMemory { kDevice, kRegistered };

// The six tensors of one batch, all of zeros but the table, whose entries are distinct blocks.
// Registered memory outlives a reset of the device.
class LaunchBatch {
 public:
    LaunchBatch(int64_t numSeqs, BatchMemory kind) : numSeqs_(numSeqs), kind_(kind) {
        const int64_t rows[] = {numSeqs, numSeqs - 1, numSeqs,
                                numSeqs, numSeqs,     numSeqs * kMaxBlocks};
        const std::vector<int64_t> shapes[] = {{numSeqs}, {numSeqs - 1, 1}, {numSeqs},
                                               {numSeqs}, {numSeqs},        {numSeqs, kMaxBlocks}};
        for (size_t index = 0; index < 6; ++index) {
            void* const memory = Take(static_cast<size_t>(rows[index]));
            memory_.push_back(memory);
            tensors_.push_back(aclCreateTensor(shapes[index].data(), shapes[index].size(),
                                               ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                               shapes[index].data(), shapes[index].size(), memory));
        }
        // Device memory is the host's.
        auto* const table = static_cast<int64_t*>(memory_[5]);
        std::iota(table, table + numSeqs * kMaxBlocks, int64_t{7});
    }

    ~LaunchBatch() {
        for (size_t index = 0; index < 6; ++index) {
            EXPECT_EQ(aclDestroyTensor(tensors_[index]), ACLNN_SUCCESS);
            if (kind_ == BatchMemory::kDevice) {
                EXPECT_EQ(aclrtFree(memory_[index]), ACL_SUCCESS);
            }
        }
    }
    LaunchBatch(const LaunchBatch&) = delete;
    LaunchBatch& operator=(const LaunchBatch&) = delete;

    // Registered memory goes back to the test; otherwise the end of the runtime does that.
    void Unregister() {
        for (support::PageVector<int64_t>& each : owned_) {
            EXPECT_EQ(aclrtHostUnregister(each.data()), ACL_SUCCESS);
        }
    }

    void Advance(aclrtStream stream) { ASSERT_TRUE(TryAdvance(stream)); }

    // False: the context or the runtime has ended.
    bool TryAdvance(aclrtStream stream) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        return aclnnAdvanceStepGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2], tensors_[3],
                                                tensors_[4], tensors_[5], numSeqs_, numSeqs_ - 1,
                                                kBlockSize, &workspaceSize,
                                                &executor) == ACLNN_SUCCESS &&
               aclnnAdvanceStep(nullptr, 0, executor, stream) == ACLNN_SUCCESS;
    }

    // After `steps` advances of empty sequences: position steps - 1, in the row's own blocks.
    void ExpectAfter(int64_t steps) const {
        const auto* const slots = static_cast<const int64_t*>(memory_[4]);
        const int64_t position = steps - 1;
        for (int64_t row = 0; row + 1 < numSeqs_; ++row) {
            const int64_t block = 7 + row * kMaxBlocks + position / kBlockSize;
            ASSERT_EQ(slots[row], block * kBlockSize + position % kBlockSize) << "row " << row;
        }
        ASSERT_EQ(slots[numSeqs_ - 1], -1);
    }

 private:
    void* Take(size_t count) {
        const size_t bytes = count * sizeof(int64_t);
        if (kind_ == BatchMemory::kRegistered) {
            owned_.emplace_back(count, 0);
            void* device = nullptr;
            EXPECT_EQ(
                aclrtHostRegister(owned_.back().data(), bytes, ACL_HOST_REGISTER_MAPPED, &device),
                ACL_SUCCESS);
            return device;
        }
        void* memory = nullptr;
        EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        EXPECT_EQ(aclrtMemset(memory, bytes, 0, bytes), ACL_SUCCESS);
        return memory;
    }

    const int64_t numSeqs_;
    const BatchMemory kind_;
    std::vector<support::PageVector<int64_t>> owned_;
    std::vector<void*> memory_;
    std::vector<aclTensor*> tensors_;
};

}  // namespace stress

#endif  // ADVANCE_STEP_TESTS_STRESS_LAUNCH_BATCH_H_
