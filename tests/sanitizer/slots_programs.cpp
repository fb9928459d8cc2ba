// SPDX-License-Identifier: Apache-2.0
// Block tables whose rows write each other's cache, and tables that share what they may share.
#include <array>

#include "aclnnop/aclnn_step.h"
#include "corpus.h"
#include "device_program.h"
#include "reference/step_data.h"

namespace corpus {

// Step's tensors on the device and one run of it.
void LaunchStep(const reference::StepData& data, aclrtStream stream) {
    std::array<aclTensor*, reference::kStepTensorCount> t{};
    for (size_t i = 0; i < t.size(); ++i) {
        const std::vector<int64_t> dims = reference::StepShape(data.dims, i);
        const aclDataType type = reference::IsStepFlag(i)    ? ACL_BOOL
                                 : i >= reference::kInputIds ? ACL_INT64
                                                             : ACL_INT32;
        const size_t bytes = data.tensors[i].size() * aclDataTypeSize(type);
        std::vector<char> image(bytes);
        for (size_t k = 0; k < data.tensors[i].size(); ++k) {
            const int64_t value = data.tensors[i][k];
            for (size_t byte = 0; byte < aclDataTypeSize(type); ++byte) {  // little-endian
                image[k * aclDataTypeSize(type) + byte] = static_cast<char>(value >> (8 * byte));
            }
        }
        void* const memory = NewUnwrittenMemory(bytes);
        Must(aclrtMemcpy(memory, bytes, image.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        t[i] = aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND,
                               dims.data(), dims.size(), memory);
    }
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Must(aclnnStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9],
                                   t[10], t[11], t[12], t[13], t[14], t[15], t[16], t[17], t[18],
                                   t[19], t[20], t[21], data.dims.blockSize, 1, &size, &executor));
    for (aclTensor* tensor : t) {
        aclDestroyTensor(tensor);
    }
    Must(aclnnStep(size == 0 ? nullptr : NewUnwrittenMemory(size), size, executor, stream));
    Synchronize(stream);
}

// Slot 0 has a token in block 5; slot 1 has two full blocks and needs one more.
reference::StepData TwoSlots(const std::vector<int64_t>& freeBlocks) {
    reference::StepData data = reference::IdleStepData({2, 2, 4, 4, 16, 16, 4});
    for (size_t slot = 0; slot < 2; ++slot) {
        data[reference::kStopFlags][slot] = 0;
        data[reference::kSeqLensThisTime][slot] = 1;
        data[reference::kStepIdx][slot] = 1;
        data[reference::kFirstTokenIds][slot] = 1;
    }
    data[reference::kSeqLensDecoder] = {1, 4};
    data[reference::kUsedListLen] = {1, 1};
    data.Block(0, 0) = 5;
    data.Block(1, 0) = 6;
    for (size_t i = 0; i < freeBlocks.size(); ++i) {
        data[reference::kFreeList][i] = freeBlocks[i];
    }
    data[reference::kFreeListLen][0] = static_cast<int64_t>(freeBlocks.size());
    return data;
}

// ---- bad

// FastDeploy: a block is recycled twice, so that two queries write one slot.
BAD_PROGRAM(GivesTwoQueriesOneSlot, "memory",
            {{"slots", "same_slot", {"aclnnAdvanceStep", "queries 0 and 1", "slot 29"}}},
            {{"slots", "shared_block", {}}}) {
    // [GivesTwoQueriesOneSlot]
    const Batch batch({2, 7, 0, 4, 7, 0, 0, 0, 0}, {5, 5, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
    // [/GivesTwoQueriesOneSlot]
}

// vLLM: a row writes into the block of its neighbour, at another slot.
BAD_PROGRAM(WritesIntoANeighboursBlock, "memory",
            {{"slots", "shared_block", {"aclnnAdvanceStep", "query 0", "query 1", "block 7"}}}) {
    // [WritesIntoANeighboursBlock]
    const Batch batch({2, 7, 0, 4, 7, 0, 0, 0, 0}, {5, 6, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
    // [/WritesIntoANeighboursBlock]
}

// vllm-ascend: a query writes into a block that its neighbour holds as a shared prefix.
BAD_PROGRAM(WritesIntoASharedPrefix, "memory", {{"slots", "shared_block", {"aclnnAdvanceStep"}}}) {
    const Batch batch({2, 0, 0, 2, 4, 0, 0, 0, 0}, {3, 6, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
}

// A row without a sequence points at block 0, which is the first block of its neighbour.
BAD_PROGRAM(LetsAnIdleRowWriteIntoABlock, "memory",
            {{"slots", "shared_block", {"aclnnAdvanceStep", "query 1", "query 0", "block 0"}}}) {
    const Batch batch({0, 7, 0, 0, 0, 0, 0, 0, 0}, {5, 0, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
}

// FastDeploy: a block is on the free list while a slot still has it, and is given out next.
BAD_PROGRAM(GivesOutABlockInUse, "memory",
            {{"slots", "free_block_used", {"aclnnStep", "block 5", "slot 0", "freeList"}}}) {
    LaunchStep(TwoSlots({8, 5}), nullptr);
}

// FastDeploy: a block was handed out twice.
BAD_PROGRAM(GivesTwoSlotsOneBlock, "memory",
            {{"slots", "shared_block", {"aclnnStep", "block 5", "slot 0", "slot 1"}}}) {
    reference::StepData data = TwoSlots({8, 9});
    data.Block(1, 0) = 5;
    LaunchStep(data, nullptr);
}

// FastDeploy: the same, and no slot needs a block.
BAD_PROGRAM(KeepsABlockInUseOnTheFreeList, "memory",
            {{"slots", "free_block_used", {"aclnnStep", "freeList"}}}) {
    // [KeepsABlockInUseOnTheFreeList]
    reference::StepData data = TwoSlots({5, 8});
    data[reference::kSeqLensDecoder] = {1, 2};
    LaunchStep(data, nullptr);
    // [/KeepsABlockInUseOnTheFreeList]
}

// ---- right

RIGHT_PROGRAM(GivesEachQueryItsBlock) {
    const Batch batch({2, 7, 0, 4, 8, 0, 0, 0, 0}, {5, 5, 0});
    for (int step = 0; step < 3; ++step) {
        batch.Launch(nullptr);
    }
    Synchronize(nullptr);
}

// Prefix caching: both rows have block 2 first, and write into blocks of their own.
RIGHT_PROGRAM(SharesAPrefix) {
    const Batch batch({2, 7, 0, 2, 8, 0, 0, 0, 0}, {5, 6, 0});
    for (int step = 0; step < 2; ++step) {
        batch.Launch(nullptr);
    }
    Synchronize(nullptr);
}

// Block 0 is for rows without a sequence, as the null block of vLLM.
RIGHT_PROGRAM(LetsIdleRowsShareBlock0) {
    const Batch batch({0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
}

// Columns beyond a query's length have whatever the host left there.
RIGHT_PROGRAM(LeavesOldIdsBehindTheLength) {
    const Batch batch({2, 7, 8, 4, 8, 7, 2, 2, 2}, {5, 5, 0});
    batch.Launch(nullptr);
    Synchronize(nullptr);
}

RIGHT_PROGRAM(GivesOutFreeBlocks) { LaunchStep(TwoSlots({8, 9}), nullptr); }

// Two batches with tables of their own, of which one knows nothing of the other's blocks.
RIGHT_PROGRAM(StepsTwoPools) {
    const Batch first({2, 7, 0, 4, 8, 0, 0, 0, 0}, {5, 5, 0});
    const Batch second({2, 7, 0, 4, 8, 0, 0, 0, 0}, {5, 5, 0});
    first.Launch(nullptr);
    second.Launch(nullptr);
    Synchronize(nullptr);
}

}  // namespace corpus
