// SPDX-License-Identifier: Apache-2.0
/// The operators as function objects. Part of advance_step.hpp, which has the rules.
///
///     AdvanceStep advance;
///     advance(arguments, stream);                              // runs once; throws on failure
///     Executor executor = AdvanceStep::Plan(arguments);        // for any number of runs
///     if (auto queued = advance.TryCall(arguments, stream); !queued) { queued.error().Code(); }
#ifndef ADVSTEP_ADVANCE_STEP_CPP_OPERATORS_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_OPERATORS_HPP_

#include <cstdint>

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_advance_step_flashinfer.h"
#include "aclnnop/aclnn_advance_step_multi.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "aclnnop/aclnn_step.h"
#include "advance_step/cpp/executor.hpp"

namespace advance_step {

/// The arguments of aclnnAdvanceStepGetWorkspaceSize; aclnnop/aclnn_advance_step.h describes them.
struct AdvanceStepArguments {
    const aclTensor* inputTokens = nullptr;
    const aclTensor* sampledTokenIds = nullptr;
    const aclTensor* inputPositions = nullptr;
    const aclTensor* seqLens = nullptr;
    const aclTensor* slotMapping = nullptr;
    const aclTensor* blockTables = nullptr;
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;

    /// Phase one.
    aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnAdvanceStepGetWorkspaceSize(
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            numSeqs, numQueries, blockSize, workspaceSize, executor);
    }
    /// Phase two.
    static constexpr Launch kPhaseTwo = aclnnAdvanceStep;
};
/// aclnnAdvanceStep: moves every query of a decode batch one token forward.
using AdvanceStep = Operator<AdvanceStepArguments>;

/// The arguments of aclnnAdvanceStepV2GetWorkspaceSize; aclnnop/aclnn_advance_step_v2.h describes
/// them.
struct AdvanceStepV2Arguments {
    const aclTensor* inputTokens = nullptr;
    const aclTensor* sampledTokenIds = nullptr;
    const aclTensor* inputPositions = nullptr;
    const aclTensor* seqLens = nullptr;
    const aclTensor* slotMapping = nullptr;
    const aclTensor* blockTables = nullptr;
    const aclTensor* specToken = nullptr;
    const aclTensor* acceptedNum = nullptr;
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;

    /// Phase one.
    aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnAdvanceStepV2GetWorkspaceSize(
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            specToken, acceptedNum, numSeqs, numQueries, blockSize, workspaceSize, executor);
    }
    /// Phase two.
    static constexpr Launch kPhaseTwo = aclnnAdvanceStepV2;
};
/// aclnnAdvanceStepV2: AdvanceStep for speculative decoding.
using AdvanceStepV2 = Operator<AdvanceStepV2Arguments>;

/// The arguments of aclnnAdvanceStepFlashInferGetWorkspaceSize;
/// aclnnop/aclnn_advance_step_flashinfer.h describes them.
struct AdvanceStepFlashInferArguments {
    const aclTensor* inputTokens = nullptr;
    const aclTensor* sampledTokenIds = nullptr;
    const aclTensor* inputPositions = nullptr;
    const aclTensor* seqLens = nullptr;
    const aclTensor* slotMapping = nullptr;
    const aclTensor* blockTables = nullptr;
    const aclTensor* pagedKvIndices = nullptr;
    const aclTensor* pagedKvIndptr = nullptr;
    const aclTensor* pagedKvLastPageLen = nullptr;
    const aclTensor* blockTableBound = nullptr;
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;

    /// Phase one.
    aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnAdvanceStepFlashInferGetWorkspaceSize(
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            pagedKvIndices, pagedKvIndptr, pagedKvLastPageLen, blockTableBound, numSeqs, numQueries,
            blockSize, workspaceSize, executor);
    }
    /// Phase two.
    static constexpr Launch kPhaseTwo = aclnnAdvanceStepFlashInfer;
};
/// aclnnAdvanceStepFlashInfer: AdvanceStep that also writes the paged KV arrays of FlashInfer.
using AdvanceStepFlashInfer = Operator<AdvanceStepFlashInferArguments>;

/// The arguments of aclnnAdvanceStepMultiGetWorkspaceSize; aclnnop/aclnn_advance_step_multi.h
/// describes them.
struct AdvanceStepMultiArguments {
    const aclTensor* inputTokens = nullptr;
    const aclTensor* sampledTokenIds = nullptr;
    const aclTensor* inputPositions = nullptr;
    const aclTensor* seqLens = nullptr;
    const aclTensor* slotMapping = nullptr;
    const aclTensor* blockTables = nullptr;
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;

    /// Phase one.
    aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnAdvanceStepMultiGetWorkspaceSize(
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            numSeqs, numQueries, blockSize, workspaceSize, executor);
    }
    /// Phase two.
    static constexpr Launch kPhaseTwo = aclnnAdvanceStepMulti;
};
/// aclnnAdvanceStepMulti: several steps with known tokens in one launch.
using AdvanceStepMulti = Operator<AdvanceStepMultiArguments>;

/// The arguments of aclnnStepGetWorkspaceSize; aclnnop/aclnn_step.h describes them.
struct StepArguments {
    const aclTensor* stopFlags = nullptr;
    const aclTensor* seqLensThisTime = nullptr;
    const aclTensor* oriSeqLensEncoder = nullptr;
    const aclTensor* seqLensEncoder = nullptr;
    const aclTensor* seqLensDecoder = nullptr;
    const aclTensor* blockTables = nullptr;
    const aclTensor* encoderBlockLens = nullptr;
    const aclTensor* isBlockStep = nullptr;
    const aclTensor* stepBlockList = nullptr;
    const aclTensor* stepLens = nullptr;
    const aclTensor* recoverBlockList = nullptr;
    const aclTensor* recoverLens = nullptr;
    const aclTensor* needBlockList = nullptr;
    const aclTensor* needBlockLen = nullptr;
    const aclTensor* usedListLen = nullptr;
    const aclTensor* freeList = nullptr;
    const aclTensor* freeListLen = nullptr;
    const aclTensor* inputIds = nullptr;
    const aclTensor* preIds = nullptr;
    const aclTensor* stepIdx = nullptr;
    const aclTensor* nextTokens = nullptr;
    const aclTensor* firstTokenIds = nullptr;
    int64_t blockSize = 0;
    int64_t encoderDecoderBlockNum = 0;

    /// Phase one.
    aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor) const {
        return aclnnStepGetWorkspaceSize(
            stopFlags, seqLensThisTime, oriSeqLensEncoder, seqLensEncoder, seqLensDecoder,
            blockTables, encoderBlockLens, isBlockStep, stepBlockList, stepLens, recoverBlockList,
            recoverLens, needBlockList, needBlockLen, usedListLen, freeList, freeListLen, inputIds,
            preIds, stepIdx, nextTokens, firstTokenIds, blockSize, encoderDecoderBlockNum,
            workspaceSize, executor);
    }
    /// Phase two.
    static constexpr Launch kPhaseTwo = aclnnStep;
};
/// aclnnStep: releases, dispatches, preempts and recovers KV cache blocks.
using Step = Operator<StepArguments>;

}  // namespace advance_step

#endif  /* ADVSTEP_ADVANCE_STEP_CPP_OPERATORS_HPP_ */
