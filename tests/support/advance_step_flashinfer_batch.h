// SPDX-License-Identifier: Apache-2.0
// AdvanceStepFlashInfer calls for tests.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_FLASHINFER_BATCH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_FLASHINFER_BATCH_H_

#include <cstdint>

#include "aclnnop/aclnn_advance_step_flashinfer.h"
#include "reference/advance_step_flashinfer_reference.h"
#include "support/batches.h"
#include "support/op_batch.h"
#include "support/op_layout.h"

namespace support {

inline OpBatch MakeFlashInferBatch(const reference::FlashInferData& data,
                                   const OpLayout& layout = {}) {
    const reference::AdvanceStepData& rows = data.rows;
    const int64_t seqs = rows.numSeqs;
    const std::vector<int64_t> vector =
        layout.columns ? std::vector<int64_t>{seqs, 1} : std::vector<int64_t>{seqs};
    const auto capacity = static_cast<int64_t>(data.pagedKvIndices.size());
    std::vector<OpTensor> tensors = {
        {"inputTokens", vector, rows.inputTokens},
        {"sampledTokenIds", {rows.numQueries, 1}, rows.sampledTokenIds},
        {"inputPositions", vector, rows.inputPositions},
        {"seqLens", vector, rows.seqLens, layout.lengths},
        {"slotMapping", vector, rows.slotMapping, layout.slots},
        {"blockTables", {seqs, rows.maxBlocks}, rows.blockTables, layout.tables, layout.rowStride},
        {"pagedKvIndices", {capacity}, data.pagedKvIndices, ACL_INT32},
        {"pagedKvIndptr", {seqs + 1}, data.pagedKvIndptr, ACL_INT32},
        {"pagedKvLastPageLen", vector, data.pagedKvLastPageLen, ACL_INT32},
        {"blockTableBound", vector, data.blockTableBound, ACL_INT32}};
    for (OpTensor& tensor : tensors) {
        tensor.viewOffset = layout.viewOffset;
    }
    return OpBatch(
        tensors,
        [seqs, queries = rows.numQueries, blockSize = rows.blockSize](
            const OpBatch::Tensors& t, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdvanceStepFlashInferGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5],
                                                              t[6], t[7], t[8], t[9], seqs, queries,
                                                              blockSize, size, executor);
        },
        &aclnnAdvanceStepFlashInfer);
}

// A batch with room for exactly `room` entries more than its queries have.
inline reference::FlashInferData MakeFlashInferData(const reference::AdvanceStepData& rows,
                                                    int64_t room) {
    reference::FlashInferData data;
    data.rows = rows;
    int64_t pages = 0;
    for (int64_t query = 0; query < rows.numQueries; ++query) {
        pages += rows.seqLens[query] / rows.blockSize + 1;
    }
    data.pagedKvIndices.assign(static_cast<size_t>(std::max<int64_t>(0, pages + room)), -77);
    data.pagedKvIndptr.assign(static_cast<size_t>(rows.numSeqs + 1), -78);
    data.pagedKvLastPageLen.assign(static_cast<size_t>(rows.numSeqs), -79);
    data.blockTableBound.assign(static_cast<size_t>(rows.numSeqs), -80);
    return data;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_ADVANCE_STEP_FLASHINFER_BATCH_H_
