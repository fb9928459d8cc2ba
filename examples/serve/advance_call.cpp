// SPDX-License-Identifier: Apache-2.0
// Implements the call of AdvanceStep: tensors at construction, both phases at each enqueue.

#include "advance_call.h"

#include "aclnnop/aclnn_advance_step.h"

namespace serve {

AdvanceCall::AdvanceCall(const BatchRows& batch, int64_t blockSize)
    : numSeqs_(batch.NumSeqs()),
      blockSize_(blockSize),
      sampledTokenData_(batch.sampledTokenIds.Data()),
      inputTokens_(MakeTensor({numSeqs_}, ACL_INT64, batch.inputTokens.Data())),
      inputPositions_(MakeTensor({numSeqs_}, ACL_INT64, batch.inputPositions.Data())),
      seqLens_(MakeTensor({numSeqs_}, ACL_INT64, batch.seqLens.Data())),
      slotMapping_(MakeTensor({numSeqs_}, ACL_INT64, batch.slotMapping.Data())),
      blockTables_(MakeTensor({numSeqs_, batch.MaxBlocks()}, ACL_INT32, batch.blockTables.Data())),
      call_("aclnnAdvanceStepGetWorkspaceSize", "aclnnAdvanceStep", aclnnAdvanceStep) {}

void AdvanceCall::Enqueue(Stream& stream, int64_t numQueries) {
    if (sampledRows_ != numQueries) {
        sampledTokenIds_ = MakeTensor({numQueries, 1}, ACL_INT64, sampledTokenData_);
        sampledRows_ = numQueries;
    }
    call_.Enqueue(stream, [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepGetWorkspaceSize(inputTokens_.get(), sampledTokenIds_.get(),
                                                inputPositions_.get(), seqLens_.get(),
                                                slotMapping_.get(), blockTables_.get(), numSeqs_,
                                                numQueries, blockSize_, workspaceSize, executor);
    });
}

}  // namespace serve
