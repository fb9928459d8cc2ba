// SPDX-License-Identifier: Apache-2.0
/// AdvanceStepMulti: several steps of AdvanceStep in one launch, for tokens that are known in
/// advance. This interface is the project's own.
#ifndef ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_MULTI_H_
#define ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_MULTI_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of AdvanceStepMulti: checks the arguments and plans one run. It reads shapes and
/// attributes only, so the input data need not exist yet.
///
/// One run has the result of `steps` runs of aclnnAdvanceStep, one after another. Step s, from 0
/// on, takes row s of sampledTokenIds as its tokens and row s of slotMapping as its slotMapping.
/// With conformance standard and pos = seqLens[q] before the run, a query q gets
///     slotMapping[s][q] = blockTables[q][(pos + s) / blockSize] * blockSize
///                         + (pos + s) % blockSize
///     inputTokens[q]    = sampledTokenIds[steps - 1][q]
///     inputPositions[q] = pos + steps - 1
///     seqLens[q]        = pos + steps
/// and a padding row gets token 0, position 0 and slot -1 in every step; its seqLens is not
/// changed. The other conformances are those of aclnnAdvanceStep.
///
/// @param[in,out] inputTokens      int64 [numSeqs]             token ids
/// @param[in]     sampledTokenIds  int64 [steps, numQueries]   token ids, for instance those of a
///                                 prompt; steps >= 1
/// @param[in,out] inputPositions   int64 [numSeqs]             tokens, 0-based
/// @param[in,out] seqLens          int64 [numSeqs]             tokens
/// @param[in,out] slotMapping      int64 [steps, numSeqs]      KV cache slots; -1 on padding
/// @param[in]     blockTables      int64 or int32 [numSeqs, maxBlocks]  ids of the blocks for all
///                                 steps; the row stride may exceed maxBlocks
/// @param[in]     numSeqs          rows, padding included; < 200000000
/// @param[in]     numQueries       rows that advance; 1 <= numQueries < numSeqs
/// @param[in]     blockSize        tokens per block; >= 1
/// @param[out]    workspaceSize    bytes of device memory that phase two needs; may be 0
/// @param[out]    executor         plan for one aclnnAdvanceStepMulti call
///
/// All tensors are ND; [numSeqs, 1] is accepted for [numSeqs], [steps, numQueries, 1] for
/// [steps, numQueries], and [steps, numSeqs, 1] for [steps, numSeqs]. Conformance vllm also accepts
/// int32 for seqLens and slotMapping, and numQueries = numSeqs.
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above; an in/out
///                                       tensor overlaps another tensor; a tensor was destroyed
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or an attribute is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
///
/// A call that fails writes no output; aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnAdvanceStepMultiGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/// Phase two: queues the planned run on the stream and returns. The call spends the executor, even
/// if it fails, unless aclSetAclOpExecutorRepeatable was called.
///
/// The next synchronisation of the stream reports a data error as
/// ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; the message names the first step that fails, its lowest bad
/// query and the values. A run with a data error writes no tensor. Later work of the stream still
/// runs.
///
/// @param[in] workspace      device memory of at least the planned size, of any alignment; may be
///                           NULL if workspaceSize is 0
/// @param[in] workspaceSize  bytes at workspace
/// @param[in] executor       from phase one
/// @param[in] stream         stream of the current context; NULL: its default stream
///
/// @retval ACLNN_SUCCESS            the run is queued
/// @retval ACLNN_ERR_PARAM_NULLPTR  executor is null; workspace is null with workspaceSize > 0; a
///                                  tensor's address is null
/// @retval ACLNN_ERR_PARAM_INVALID  workspaceSize is less than planned; the executor is spent or
///                                  belongs to another operator
/// @retval ACLNN_ERR_RUNTIME_ERROR  the thread has no current context, or one of another device;
///                                  the stream is invalid or has stopped on a failure; a tensor is
///                                  not inside one allocation of the device, or is not aligned to
///                                  its elements. The message has the runtime's code.
ADVSTEP_API aclnnStatus aclnnAdvanceStepMulti(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_MULTI_H_ */
