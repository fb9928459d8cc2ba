// SPDX-License-Identifier: Apache-2.0
/// The arguments of aclnnStepGetWorkspaceSize as one object, because a GoogleMock method cannot
/// have so many.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_STEP_ARGUMENTS_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_STEP_ARGUMENTS_H_

#include "aclnnop/aclnn_step.h"

namespace advance_step::testing {

/// The arguments of one call. The members have the names and the order of the C function's
/// parameters.
struct StepArguments {
    const aclTensor* stopFlags;
    const aclTensor* seqLensThisTime;
    const aclTensor* oriSeqLensEncoder;
    const aclTensor* seqLensEncoder;
    const aclTensor* seqLensDecoder;
    const aclTensor* blockTables;
    const aclTensor* encoderBlockLens;
    const aclTensor* isBlockStep;
    const aclTensor* stepBlockList;
    const aclTensor* stepLens;
    const aclTensor* recoverBlockList;
    const aclTensor* recoverLens;
    const aclTensor* needBlockList;
    const aclTensor* needBlockLen;
    const aclTensor* usedListLen;
    const aclTensor* freeList;
    const aclTensor* freeListLen;
    const aclTensor* inputIds;
    const aclTensor* preIds;
    const aclTensor* stepIdx;
    const aclTensor* nextTokens;
    const aclTensor* firstTokenIds;
    int64_t blockSize;
    int64_t encoderDecoderBlockNum;
    uint64_t* workspaceSize;
    aclOpExecutor** executor;

    /// Returns function(stopFlags, ..., executor).
    aclnnStatus PassTo(decltype(&aclnnStepGetWorkspaceSize) function) const {
        return function(stopFlags, seqLensThisTime, oriSeqLensEncoder, seqLensEncoder,
                        seqLensDecoder, blockTables, encoderBlockLens, isBlockStep, stepBlockList,
                        stepLens, recoverBlockList, recoverLens, needBlockList, needBlockLen,
                        usedListLen, freeList, freeListLen, inputIds, preIds, stepIdx, nextTokens,
                        firstTokenIds, blockSize, encoderDecoderBlockNum, workspaceSize, executor);
    }
};

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_STEP_ARGUMENTS_H_
