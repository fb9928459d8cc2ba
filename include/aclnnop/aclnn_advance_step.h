// SPDX-License-Identifier: Apache-2.0
/// AdvanceStep: moves every query of a decode batch one token forward, after sampling.
#ifndef ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_H_
#define ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of AdvanceStep: checks the arguments and plans one run. It reads shapes and attributes
/// only, so the input data need not exist yet.
///
/// Rows [0, numQueries) move one token forward; rows [numQueries, numSeqs) are padding. With
/// conformance standard and pos = seqLens[q] before the run, a query q gets
///     inputTokens[q]    = sampledTokenIds[q]
///     inputPositions[q] = pos
///     seqLens[q]        = pos + 1
///     slotMapping[q]    = blockTables[q][pos / blockSize] * blockSize + pos % blockSize
/// and a padding row gets token 0, position 0 and slot -1; its seqLens is not changed. These are
/// the formulas of vLLM's advance_step_flashattn. docs/operators/advance_step.md explains the other
/// conformances.
///
/// @param[in,out] inputTokens      int64 [numSeqs]             token ids
/// @param[in]     sampledTokenIds  int64 [numQueries, 1]       token ids
/// @param[in,out] inputPositions   int64 [numSeqs]             tokens, 0-based
/// @param[in,out] seqLens          int64 [numSeqs]             tokens
/// @param[in,out] slotMapping      int64 [numSeqs]             KV cache slots; -1 on padding
/// @param[in]     blockTables      int64 or int32 [numSeqs, maxBlocks]  block ids; the row stride
///                                 may exceed maxBlocks
/// @param[in]     numSeqs          rows, padding included; < 200000000
/// @param[in]     numQueries       rows that advance; 1 <= numQueries < numSeqs
/// @param[in]     blockSize        tokens per block; >= 1
/// @param[out]    workspaceSize    bytes of device memory that phase two needs; may be 0
/// @param[out]    executor         plan for one aclnnAdvanceStep call
///
/// All tensors are ND; [numSeqs, 1] is accepted for [numSeqs]. Conformance exact accepts any dims
/// after dim 0, as a real device does. Conformance vllm also accepts int32 for seqLens and
/// slotMapping, and numQueries = numSeqs.
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above; an in/out
///                                       tensor overlaps another tensor; a tensor was destroyed
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or an attribute is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
///
/// A call that fails writes no output; aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnAdvanceStepGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize,
    aclOpExecutor** executor);

/// Phase two: queues the planned run on the stream and returns. The call spends the executor, even
/// if it fails, unless aclSetAclOpExecutorRepeatable was called.
///
/// The next synchronisation of the stream reports a data error as
/// ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; the message names the lowest bad query and its values. A run
/// with a data error writes no tensor. Later work of the stream still runs.
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
ADVSTEP_API aclnnStatus aclnnAdvanceStep(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_H_ */
