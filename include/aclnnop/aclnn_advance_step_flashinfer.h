// SPDX-License-Identifier: Apache-2.0
/// AdvanceStepFlashInfer: AdvanceStep that also writes the paged KV arrays that FlashInfer's
/// attention reads. The interface is the project's own; the formulas are those of vLLM's
/// advance_step_flashinfer.
#ifndef ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_FLASHINFER_H_
#define ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_FLASHINFER_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of AdvanceStepFlashInfer: checks the arguments and plans one run. It reads shapes and
/// attributes only, so the input data need not exist yet.
///
/// The first six tensors change as in aclnnAdvanceStep with conformance vllm, whatever the
/// conformance of the device is. With pos = seqLens[q] before the run, a query q also gets
///     pagedKvLastPageLen[q] = pos % blockSize + 1
///     blockTableBound[q]    = pos / blockSize + 1, the blocks that pos + 1 tokens need
///     pagedKvIndptr[0]      = 0
///     pagedKvIndptr[q + 1]  = pagedKvIndptr[q] + blockTableBound[q]
///     pagedKvIndices[pagedKvIndptr[q] + c] = blockTables[q][c], for 0 <= c < blockTableBound[q]
/// A padding row repeats the last value of pagedKvIndptr. Its pagedKvLastPageLen and
/// blockTableBound are not changed, nor are the entries of pagedKvIndices after those of the last
/// query.
///
/// @param[in,out] inputTokens        int64 [numSeqs]             token ids
/// @param[in]     sampledTokenIds    int64 [numQueries, 1]       token ids
/// @param[in,out] inputPositions     int64 [numSeqs]             tokens, 0-based
/// @param[in,out] seqLens            int64 or int32 [numSeqs]    tokens
/// @param[in,out] slotMapping        int64 or int32 [numSeqs]    KV cache slots; -1 on padding
/// @param[in]     blockTables        int64 or int32 [numSeqs, maxBlocks]  block ids; the row stride
///                                   may exceed maxBlocks
/// @param[in,out] pagedKvIndices     int32 [capacity]            block ids of all queries
/// @param[in,out] pagedKvIndptr      int32 [numSeqs + 1]         start of each query's block ids
/// @param[in,out] pagedKvLastPageLen int32 [numSeqs]             tokens in the last block
/// @param[in,out] blockTableBound    int32 [numSeqs]             blocks
/// @param[in]     numSeqs            rows, padding included; < 200000000
/// @param[in]     numQueries         rows that advance; 1 <= numQueries <= numSeqs
/// @param[in]     blockSize          tokens per block; >= 1
/// @param[out]    workspaceSize      bytes of device memory that phase two needs
/// @param[out]    executor           plan for one aclnnAdvanceStepFlashInfer call
///
/// All tensors are ND; [numSeqs, 1] is accepted for [numSeqs]. capacity may be any number, 0
/// included; the run fails if it is too small.
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above; an in/out
///                                       tensor overlaps another tensor; a tensor was destroyed
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or an attribute is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
///
/// A call that fails writes no output; aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnAdvanceStepFlashInferGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* pagedKvIndices, const aclTensor* pagedKvIndptr,
    const aclTensor* pagedKvLastPageLen, const aclTensor* blockTableBound, int64_t numSeqs,
    int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor);

/// Phase two: queues the planned run on the stream and returns. The call spends the executor, even
/// if it fails, unless aclSetAclOpExecutorRepeatable was called.
///
/// The next synchronisation of the stream reports a data error as
/// ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; the message names the lowest bad query and its values. A run
/// with a data error writes no tensor. Later work of the stream still runs. A pagedKvIndices that
/// is too small is a data error.
///
/// @param[in] workspace      device memory of at least the planned size, of any alignment
/// @param[in] workspaceSize  bytes at workspace
/// @param[in] executor       from phase one
/// @param[in] stream         stream of the current context; NULL: its default stream
///
/// @retval ACLNN_SUCCESS            the run is queued
/// @retval ACLNN_ERR_PARAM_NULLPTR  executor is null; workspace is null with workspaceSize > 0; a
///                                  tensor's address is null
/// @retval ACLNN_ERR_PARAM_INVALID  workspaceSize is less than planned; the workspace overlaps
///                                  a tensor; the executor is spent or belongs to another operator
/// @retval ACLNN_ERR_RUNTIME_ERROR  the thread has no current context, or one of another device;
///                                  the stream is invalid or has stopped on a failure; a tensor or
///                                  the workspace is not inside one allocation of the device; a
///                                  tensor is not aligned to its elements. The message has the
///                                  runtime's code.
ADVSTEP_API aclnnStatus aclnnAdvanceStepFlashInfer(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor,
                                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_FLASHINFER_H_ */
