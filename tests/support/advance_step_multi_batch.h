// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti calls for tests.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_MULTI_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_MULTI_BATCH_H_

#include <algorithm>
#include <cstdint>
#include <random>

#include "aclnnop/aclnn_advance_step_multi.h"
#include "reference/advance_step_multi_reference.h"
#include "support/batches.h"
#include "support/op_batch.h"
#include "support/op_layout.h"

namespace support {

inline OpBatch MakeMultiBatch(const reference::MultiData& data, const OpLayout& layout = {}) {
    const reference::AdvanceStepData& one = data.one;
    const int64_t seqs = one.numSeqs;
    std::vector<OpTensor> tensors = {
        {"inputTokens", {seqs}, one.inputTokens},
        {"sampledTokenIds", {data.steps, one.numQueries}, data.sampledTokenIds},
        {"inputPositions", {seqs}, one.inputPositions},
        {"seqLens", {seqs}, one.seqLens, layout.lengths},
        {"slotMapping", {data.steps, seqs}, data.slotMapping, layout.slots},
        {"blockTables", {seqs, one.maxBlocks}, one.blockTables, layout.tables, layout.rowStride}};
    for (size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].viewOffset = layout.viewOffset;
        if (layout.columns && i != 5) {
            tensors[i].shape.push_back(1);
        }
    }
    return OpBatch(
        tensors,
        [seqs, queries = one.numQueries, blockSize = one.blockSize](
            const OpBatch::Tensors& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdvanceStepMultiGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], seqs,
                                                         queries, blockSize, size, executor);
        },
        &aclnnAdvanceStepMulti);
}

// Tokens and slots for every step of a batch, from the seed alone.
inline reference::MultiData MakeMultiData(const reference::AdvanceStepData& one, int64_t steps,
                                          uint64_t seed) {
    std::mt19937_64 random(seed);
    reference::MultiData data;
    data.one = one;
    data.steps = steps;
    for (int64_t i = 0; i < steps * one.numQueries; ++i) {
        data.sampledTokenIds.push_back(static_cast<int64_t>(random() % 150000));
    }
    for (int64_t i = 0; i < steps * one.numSeqs; ++i) {
        data.slotMapping.push_back(static_cast<int64_t>(random() % 1000000));
    }
    return data;
}

// A batch in which every query has room for so many steps.
inline reference::AdvanceStepData WithRoom(reference::AdvanceStepData data, int64_t steps) {
    const int64_t room = std::max<int64_t>(1, data.blockSize * data.maxBlocks - steps + 1);
    for (int64_t& length : data.seqLens) {
        length %= room;
    }
    return data;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_MULTI_BATCH_H_
