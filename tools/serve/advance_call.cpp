// SPDX-License-Identifier: Apache-2.0
// Implements the call of AdvanceStep: tensors at construction, both phases at each enqueue.

#include "advance_call.h"

#include "aclnnop/aclnn_advance_step.h"

namespace serve {

AdvanceCall::AdvanceCall(const BatchRows& batch, int64_t blockSize)
    : batch_(batch),
      blockSize_(blockSize),
      call_("aclnnAdvanceStepGetWorkspaceSize", "aclnnAdvanceStep", aclnnAdvanceStep) {}

void AdvanceCall::MakeTensors(int64_t numSeqs) {
    inputTokens_ = MakeTensor({numSeqs}, ACL_INT64, batch_.inputTokens.Data());
    inputPositions_ = MakeTensor({numSeqs}, ACL_INT64, batch_.inputPositions.Data());
    seqLens_ = MakeTensor({numSeqs}, ACL_INT64, batch_.seqLens.Data());
    slotMapping_ = MakeTensor({numSeqs}, ACL_INT64, batch_.slotMapping.Data());
    blockTables_ = MakeTensor({numSeqs, batch_.MaxBlocks()}, ACL_INT32, batch_.blockTables.Data());
    rows_ = numSeqs;
}

void AdvanceCall::Enqueue(Stream& stream, int64_t numQueries, int64_t numSeqs) {
    if (rows_ != numSeqs) {
        MakeTensors(numSeqs);
    }
    if (sampledRows_ != numQueries) {
        sampledTokenIds_ = MakeTensor({numQueries, 1}, ACL_INT64, batch_.sampledTokenIds.Data());
        sampledRows_ = numQueries;
    }
    call_.Enqueue(stream, [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepGetWorkspaceSize(inputTokens_.get(), sampledTokenIds_.get(),
                                                inputPositions_.get(), seqLens_.get(),
                                                slotMapping_.get(), blockTables_.get(), numSeqs,
                                                numQueries, blockSize_, workspaceSize, executor);
    });
}

}  // namespace serve
