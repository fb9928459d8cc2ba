// SPDX-License-Identifier: Apache-2.0
// AdvanceStepV2 calls for tests: reference data to device tensors, and random data.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_V2_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_V2_BATCH_H_

#include <cstdint>
#include <random>

#include "aclnnop/aclnn_advance_step_v2.h"
#include "reference/advance_step_v2_reference.h"
#include "support/batches.h"
#include "support/op_batch.h"
#include "support/op_layout.h"

namespace support {

inline OpBatch MakeV2Batch(const reference::AdvanceStepV2Data& data, const OpLayout& layout = {}) {
    const int64_t seqs = data.numSeqs;
    const int64_t w = data.RowsPerQuery();
    const std::vector<int64_t> rows =
        layout.columns ? std::vector<int64_t>{seqs, w} : std::vector<int64_t>{seqs * w};
    std::vector<OpTensor> tensors = {{"inputTokens", rows, data.inputTokens},
                                     {"sampledTokenIds", {seqs, w}, data.sampledTokenIds},
                                     {"inputPositions", rows, data.inputPositions},
                                     {"seqLens", rows, data.seqLens},
                                     {"slotMapping", rows, data.slotMapping},
                                     {"blockTables", {seqs, data.maxBlocks}, data.blockTables},
                                     {"specToken", {seqs, data.specNum}, data.specToken},
                                     {"acceptedNum", {seqs}, data.acceptedNum}};
    for (OpTensor& tensor : tensors) {
        tensor.viewOffset = layout.viewOffset;
    }
    tensors[5].dtype = layout.tables;
    tensors[5].rowStride = layout.rowStride;
    return OpBatch(
        tensors,
        [seqs, blockSize = data.blockSize](const OpBatch::Tensors& t, uint64_t* size,
                                           aclOpExecutor** executor) {
            return aclnnAdvanceStepV2GetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6],
                                                      t[7], seqs, seqs, blockSize, size, executor);
        },
        &aclnnAdvanceStepV2);
}

// Every value from the seed alone; no conformance finds fault with it. Slots fit int32.
inline reference::AdvanceStepV2Data MakeV2Data(int64_t numSeqs, int64_t specNum, int64_t blockSize,
                                               int64_t maxBlocks, uint64_t seed) {
    std::mt19937_64 random(seed);
    const UpTo upTo{&random};
    reference::AdvanceStepV2Data data;
    data.numSeqs = numSeqs;
    data.specNum = specNum;
    data.blockSize = blockSize;
    data.maxBlocks = maxBlocks;
    const int64_t w = specNum + 1;
    const int64_t lastBlock = std::max<int64_t>(0, (int64_t{1} << 30) / blockSize - 1);
    for (int64_t query = 0; query < numSeqs; ++query) {
        const int64_t accepted = upTo(specNum);
        data.acceptedNum.push_back(accepted);
        const int64_t valid = 1 + upTo(specNum);
        for (int64_t j = 0; j < w; ++j) {
            data.inputTokens.push_back(upTo(150000));
            // Behind the first negative entry anything may stand.
            data.sampledTokenIds.push_back(j < valid    ? upTo(150000)
                                           : j == valid ? -1 - upTo(2)
                                                        : upTo(9) - 5);
            data.inputPositions.push_back(upTo(blockSize * maxBlocks - 1) - accepted - 1);
            data.seqLens.push_back(upTo(1000));
            data.slotMapping.push_back(upTo(1000000));
        }
        for (int64_t j = 0; j < specNum; ++j) {
            data.specToken.push_back(upTo(150000));
        }
        for (int64_t column = 0; column < maxBlocks; ++column) {
            data.blockTables.push_back(upTo(lastBlock));
        }
    }
    return data;
}

// As MakeV2Data, but the rows of a query feed tokens that follow each other, as they do in use,
// except those of some queries. maxBlocks * blockSize is at least twice a query's rows.
inline reference::AdvanceStepV2Data MakeUsualV2Data(int64_t numSeqs, int64_t specNum,
                                                    int64_t blockSize, int64_t maxBlocks,
                                                    uint64_t seed) {
    constexpr int64_t kUnusual = 31;  // one query in so many
    reference::AdvanceStepV2Data data = MakeV2Data(numSeqs, specNum, blockSize, maxBlocks, seed);
    const int64_t w = specNum + 1;
    for (int64_t query = 0; query < numSeqs; ++query) {
        const auto first = static_cast<size_t>(query * w);
        const int64_t accepted = data.acceptedNum[static_cast<size_t>(query)];
        const int64_t last = blockSize * maxBlocks - w - accepted - 1;
        const int64_t begin = std::min(std::max<int64_t>(0, data.inputPositions[first]), last);
        for (int64_t j = 0; query % kUnusual != 3 && j < w; ++j) {
            data.inputPositions[first + static_cast<size_t>(j)] = begin + j;
        }
    }
    return data;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_V2_BATCH_H_
