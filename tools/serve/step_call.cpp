// SPDX-License-Identifier: Apache-2.0
// Implements the call of Step: tensors at construction, both phases at each enqueue.

#include "step_call.h"

#include <algorithm>

#include "aclnnop/aclnn_step.h"

namespace serve {

StepCall::StepCall(const SlotState& s, int64_t blockSize)
    : slots_(s.Slots()),
      blockSize_(blockSize),
      seqLensThisTime_(s.seqLensThisTime.Data()),
      call_("aclnnStepGetWorkspaceSize", "aclnnStep", aclnnStep) {
    const auto add = [this](const char* name, std::initializer_list<int64_t> shape,
                            aclDataType type, void* data) {
        tensors_.push_back(MakeTensor(shape, type, data));
        size_t bytes = aclDataTypeSize(type);
        for (const int64_t dim : shape) {
            bytes *= static_cast<size_t>(dim);
        }
        arrays_.push_back({name, data, bytes});
    };
    const int64_t slots = s.Slots();
    add("Step.stopFlags", {slots}, ACL_BOOL, s.stopFlags.Data());
    add("Step.seqLensThisTime", {slots}, ACL_INT32, s.seqLensThisTime.Data());
    add("Step.oriSeqLensEncoder", {slots}, ACL_INT32, s.oriSeqLensEncoder.Data());
    add("Step.seqLensEncoder", {slots}, ACL_INT32, s.seqLensEncoder.Data());
    add("Step.seqLensDecoder", {slots}, ACL_INT32, s.seqLensDecoder.Data());
    add("Step.blockTables", {slots, s.MaxBlocks()}, ACL_INT32, s.blockTables.Data());
    add("Step.encoderBlockLens", {slots}, ACL_INT32, s.encoderBlockLens.Data());
    add("Step.isBlockStep", {slots}, ACL_BOOL, s.isBlockStep.Data());
    add("Step.stepBlockList", {slots}, ACL_INT32, s.stepBlockList.Data());
    add("Step.stepLens", {1}, ACL_INT32, s.stepLens.Data());
    add("Step.recoverBlockList", {slots}, ACL_INT32, s.recoverBlockList.Data());
    add("Step.recoverLens", {1}, ACL_INT32, s.recoverLens.Data());
    add("Step.needBlockList", {slots}, ACL_INT32, s.needBlockList.Data());
    add("Step.needBlockLen", {1}, ACL_INT32, s.needBlockLen.Data());
    add("Step.usedListLen", {slots}, ACL_INT32, s.usedListLen.Data());
    add("Step.freeList", {s.DynamicBlocks()}, ACL_INT32, s.freeList.Data());
    add("Step.freeListLen", {1}, ACL_INT32, s.freeListLen.Data());
    add("Step.inputIds", {slots, s.InputWidth()}, ACL_INT64, s.inputIds.Data());
    arrays_.back().tokenColumns = s.InputWidth();
    add("Step.preIds", {slots, s.PreWidth()}, ACL_INT64, s.preIds.Data());
    arrays_.back().tokenColumns = s.PreWidth();
    add("Step.stepIdx", {slots}, ACL_INT64, s.stepIdx.Data());
    add("Step.nextTokens", {slots}, ACL_INT64, s.nextTokens.Data());
    add("Step.firstTokenIds", {slots}, ACL_INT64, s.firstTokenIds.Data());
}

void StepCall::Enqueue(Stream& stream, int64_t slots) {
    // Step looks at no slot behind the batch. Its length is one of few, so that plans are found
    // again.
    constexpr int64_t kBatchUnit = 64;
    const int64_t batch = std::min((slots + kBatchUnit - 1) / kBatchUnit * kBatchUnit, slots_);
    if (batch != batch_) {
        tensors_[kSeqLensThisTime] = MakeTensor({batch}, ACL_INT32, seqLensThisTime_);
        batch_ = batch;
    }
    call_.Enqueue(stream, [this](uint64_t* workspaceSize, aclOpExecutor** executor) {
        const auto t = [this](size_t index) { return tensors_[index].get(); };
        const int64_t encoderDecoderBlockNum = 1;  // not used by the operator
        return aclnnStepGetWorkspaceSize(t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9),
                                         t(10), t(11), t(12), t(13), t(14), t(15), t(16), t(17),
                                         t(18), t(19), t(20), t(21), blockSize_,
                                         encoderDecoderBlockNum, workspaceSize, executor);
    });
}

}  // namespace serve
