// SPDX-License-Identifier: Apache-2.0
/// AdvanceStepV2: AdvanceStep for speculative decoding, where a query has several rows.
#ifndef ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_
#define ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of AdvanceStepV2: checks the arguments and plans one run. It reads shapes and
/// attributes only, so the input data need not exist yet.
///
/// Every query has w = k + 1 rows: one for its last sampled token and k for spec tokens, which a
/// draft model proposes. With pos = inputPositions[i] + acceptedNum[r] + 1 before the run, row
/// i = r * w + j of query r, with 0 <= j < w, gets
///     inputPositions[i] = pos
///     seqLens[i]        = pos + 1
///     slotMapping[i]    = blockTables[r][pos / blockSize] * blockSize + pos % blockSize
///     inputTokens[i]    = for j = 0, the last valid sampled token of r: the entry before the first
///                         negative one in its row, or the row's last entry if none is negative;
///                         for j >= 1, specToken[r][j - 1]
/// The formulas are those of CANN's operator. Conformance vllm is the same as standard;
/// docs/operators/advance_step_v2.md explains exact.
///
/// @param[in,out] inputTokens      int64 [numSeqs * w]         token ids
/// @param[in]     sampledTokenIds  int64 [numSeqs, w]          token ids; negative entries from
///                                 the first token on that was not accepted
/// @param[in,out] inputPositions   int64 [numSeqs * w]         tokens, 0-based
/// @param[in,out] seqLens          int64 [numSeqs * w]         tokens; not read
/// @param[in,out] slotMapping      int64 [numSeqs * w]         KV cache slots; not read
/// @param[in]     blockTables      int64 or int32 [numSeqs, maxBlocks]  block ids; the row stride
///                                 may exceed maxBlocks
/// @param[in]     specToken        int64 [numSeqs, k]          token ids; k >= 1
/// @param[in]     acceptedNum      int64 [numSeqs]             number of spec tokens that were
///                                 accepted in the last step
/// @param[in]     numSeqs          queries; < 200000000
/// @param[in]     numQueries       equal to numSeqs; there is no padding
/// @param[in]     blockSize        tokens per block; >= 1
/// @param[out]    workspaceSize    bytes of device memory that phase two needs; may be 0
/// @param[out]    executor         plan for one aclnnAdvanceStepV2 call
///
/// All tensors are ND; [numSeqs, w] is accepted for [numSeqs * w], except under conformance exact.
/// Conformance exact also computes with the low 32 bits of blockSize. If specToken and acceptedNum
/// are both null, the shapes and rules of aclnnAdvanceStepGetWorkspaceSize apply; phase two is
/// still aclnnAdvanceStepV2.
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null; only one of specToken and acceptedNum
///                                       is null
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above; an in/out
///                                       tensor overlaps another tensor; a tensor was destroyed;
///                                       under conformance exact the low 32 bits of blockSize are 0
///                                       or negative
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or an attribute is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
///
/// A call that fails writes no output; aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnAdvanceStepV2GetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs, int64_t numQueries,
    int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor);

/// Phase two: queues the planned run on the stream and returns. The call spends the executor, even
/// if it fails, unless aclSetAclOpExecutorRepeatable was called.
///
/// The next synchronisation of the stream reports a data error as
/// ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; the message names the lowest bad row, its query and its
/// values. A run with a data error writes no tensor. Later work of the stream still runs.
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
ADVSTEP_API aclnnStatus aclnnAdvanceStepV2(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_ */
