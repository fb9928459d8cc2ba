// SPDX-License-Identifier: Apache-2.0
/// Step: housekeeping of a paged KV cache under continuous batching, run once per iteration.
///
/// CANN has no such operator. This interface is the project's own, in aclnn style.
/// docs/operators/step.md describes the semantics, which are those of FastDeploy's step_paddle.
#ifndef ADVSTEP_ACLNNOP_ACLNN_STEP_H_
#define ADVSTEP_ACLNNOP_ACLNN_STEP_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of Step: checks the arguments and plans one run. It reads shapes and attributes only.
///
/// A slot is a row of the batch. One run frees the blocks of finished slots, preempts slots (those
/// with the most dynamic blocks first) while more blocks are needed than are free, gives a block to
/// every slot whose next token needs one, and recovers preempted slots (the latest first) while
/// they fit.
///
/// B is the batch; S >= B is the number of rows of every other per-slot tensor. W is the width of
/// the block table, F the capacity of the free list, L the width of inputIds, P the width of
/// preIds. Each may be 0. [S, 1] is accepted for [S], and [B, 1] for [B]. All tensors are ND and
/// contiguous, and no two overlap.
///
/// @param[in,out] stopFlags           bool  [S]     the slot is not generating
/// @param[in,out] seqLensThisTime     int32 [B]     tokens fed to the next forward pass
/// @param[in]     oriSeqLensEncoder   int32 [S]     prompt length, tokens
/// @param[in,out] seqLensEncoder      int32 [S]     tokens to prefill in the next forward pass
/// @param[in,out] seqLensDecoder      int32 [S]     tokens in the KV cache
/// @param[in,out] blockTables         int32 [S, W]  block ids; -1 is none
/// @param[in,out] encoderBlockLens    int32 [S]     leading columns owned by the host's allocator
/// @param[in,out] isBlockStep         bool  [S]     the slot is preempted and waits for recovery
/// @param[in,out] stepBlockList       int32 [S]     stack of preempted slots; -1 above its top
/// @param[in,out] stepLens            int32 [1]     depth of stepBlockList
/// @param[in,out] recoverBlockList    int32 [S]     slots that this run recovered; not cleared
/// @param[in,out] recoverLens         int32 [1]     0 on entry and on return
/// @param[in,out] needBlockList       int32 [S]     used entries become -1
/// @param[in,out] needBlockLen        int32 [1]     0 on entry and on return
/// @param[in,out] usedListLen         int32 [S]     dynamic blocks: n of them are in the columns
///                                                  [encoderBlockLens, encoderBlockLens + n)
/// @param[in,out] freeList            int32 [F]     stack of free block ids, top at the end
/// @param[in,out] freeListLen         int32 [1]     depth of freeList
/// @param[in,out] inputIds            int64 [S, L]  prompt token ids
/// @param[in]     preIds              int64 [S, P]  generated ids; column k has the k-th, from 1 on
/// @param[in]     stepIdx             int64 [S]     number of generated tokens, the newest included
/// @param[in]     nextTokens          int64 [S]     newest token, not yet in preIds
/// @param[in,out] firstTokenIds       int64 [S]     first prompt id; -1: the slot is free
/// @param[in]     blockSize               tokens per block; >= 1
/// @param[in]     encoderDecoderBlockNum  any number; it is not used
/// @param[out]    workspaceSize           bytes of device memory that phase two needs
/// @param[out]    executor                plan for one aclnnStep call
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above; two
///                                       tensors overlap; a tensor was destroyed
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or blockSize is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
///
/// A call that fails writes no output; aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnStepGetWorkspaceSize(
    const aclTensor* stopFlags, const aclTensor* seqLensThisTime,
    const aclTensor* oriSeqLensEncoder, const aclTensor* seqLensEncoder,
    const aclTensor* seqLensDecoder, const aclTensor* blockTables,
    const aclTensor* encoderBlockLens, const aclTensor* isBlockStep,
    const aclTensor* stepBlockList, const aclTensor* stepLens, const aclTensor* recoverBlockList,
    const aclTensor* recoverLens, const aclTensor* needBlockList, const aclTensor* needBlockLen,
    const aclTensor* usedListLen, const aclTensor* freeList, const aclTensor* freeListLen,
    const aclTensor* inputIds, const aclTensor* preIds, const aclTensor* stepIdx,
    const aclTensor* nextTokens, const aclTensor* firstTokenIds, int64_t blockSize,
    int64_t encoderDecoderBlockNum, uint64_t* workspaceSize, aclOpExecutor** executor);

/// Phase two: queues the planned run. Arguments and codes are those of aclnnAdvanceStep, and
/// ACLNN_ERR_PARAM_INVALID also if the workspace overlaps a tensor. Only one run at a time may use a
/// workspace.
///
/// The next synchronisation of the stream reports a failure on the device. A run that fails writes
/// no tensor. The codes are:
///   ACL_ERROR_RT_RESOURCE_ALLOC_FAIL    no progress: more blocks are needed than are free, and no
///                                       slot is left to preempt. Shed load and run again.
///   ACL_ERROR_RT_VECTOR_CORE_EXCEPTION  the state is not consistent; the message names the slot
///                                       and its values
ADVSTEP_API aclnnStatus aclnnStep(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_STEP_H_ */
