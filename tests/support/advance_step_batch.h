// SPDX-License-Identifier: Apache-2.0
// One AdvanceStep call on the device: its six tensors, both phases, and what came of it.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "reference/advance_step_reference.h"
#include "support/op_batch.h"
#include "support/op_layout.h"

namespace support {

inline constexpr std::array<const char*, 6> kTensorNames = {
    "inputTokens", "sampledTokenIds", "inputPositions", "seqLens", "slotMapping", "blockTables"};
inline constexpr size_t kInputTokens = 0;
inline constexpr size_t kSampledTokenIds = 1;
inline constexpr size_t kInputPositions = 2;
inline constexpr size_t kSeqLens = 3;
inline constexpr size_t kSlotMapping = 4;
inline constexpr size_t kBlockTables = 5;

// The six tensors of a call, in signature order.
inline std::vector<OpTensor> AdvanceStepTensors(const reference::AdvanceStepData& data,
                                                const OpLayout& layout) {
    std::vector<OpTensor> tensors;
    for (size_t i = 0; i < kTensorNames.size(); ++i) {
        const auto length = static_cast<int64_t>(data.Tensors()[i]->size());
        OpTensor tensor{kTensorNames[i], {length}, *data.Tensors()[i]};
        if (i == kBlockTables) {
            tensor.shape = {data.maxBlocks == 0 ? 0 : length / data.maxBlocks, data.maxBlocks};
        } else if (i == kSampledTokenIds || layout.columns) {
            tensor.shape.push_back(1);
        }
        tensor.viewOffset = layout.viewOffset;
        tensors.push_back(std::move(tensor));
    }
    tensors[kSeqLens].dtype = layout.lengths;
    tensors[kSlotMapping].dtype = layout.slots;
    tensors[kBlockTables].dtype = layout.tables;
    tensors[kBlockTables].rowStride = layout.rowStride;
    return tensors;
}

class AdvanceStepBatch : public OpBatch {
 public:
    explicit AdvanceStepBatch(reference::AdvanceStepData data, const OpLayout& layout = {})
        : OpBatch(
              AdvanceStepTensors(data, layout),
              [seqs = data.numSeqs, queries = data.numQueries, blockSize = data.blockSize](
                  const Tensors& t, uint64_t* size, aclOpExecutor** executor) {
                  return aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], seqs,
                                                          queries, blockSize, size, executor);
              },
              &aclnnAdvanceStep),
          data_(std::move(data)) {}

    const reference::AdvanceStepData& Data() const { return data_; }

    // Whether the device holds exactly expected, and nothing beside the views has been written.
    testing::AssertionResult Holds(const reference::AdvanceStepData& expected) const {
        return OpBatch::Holds(ValuesOf(expected));
    }
    // The same for one of the tensors.
    testing::AssertionResult HoldsAt(size_t index,
                                     const reference::AdvanceStepData& expected) const {
        return OpBatch::HoldsAt(index, *expected.Tensors()[index]);
    }

 private:
    reference::AdvanceStepData data_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_BATCH_H_
