/// AdvanceStepV2: AdvanceStep for speculative decoding, where a query gets several rows.
#ifndef ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_
#define ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Phase one of AdvanceStepV2: checks the arguments and plans one run. Reads shapes and attributes
/// only, so the input data need not exist yet.
///
/// Every query has w = k + 1 rows: its last sampled token and k spec tokens, which a draft model
/// proposes. Of query r, row i = r * w + j, with 0 <= j < w, gets
///     inputPositions[i] = inputPositions[i] + acceptedNum[r] + 1
///     seqLens[i]        = inputPositions[i] + 1
///     slotMapping[i]    = blockTables[r][inputPositions[i] / blockSize] * blockSize
///                         + inputPositions[i] % blockSize
///     inputTokens[i]    = the last valid sampled token of r, for j = 0: the one before the first
///                         negative entry of its row, or the row's last where none is negative
///                         specToken[r][j - 1], for j >= 1
/// Conformance vllm is as standard; exact: docs/operators/advance_step_v2.md.
///
/// @param[in,out] inputTokens      int64 [numSeqs * w]         token ids
/// @param[in]     sampledTokenIds  int64 [numSeqs, w]          token ids; negative from the first
///                                 that was not accepted on
/// @param[in,out] inputPositions   int64 [numSeqs * w]         tokens, 0-based
/// @param[in,out] seqLens          int64 [numSeqs * w]         tokens; not read
/// @param[in,out] slotMapping      int64 [numSeqs * w]         KV cache slots; not read
/// @param[in]     blockTables      int64 or int32 [numSeqs, maxBlocks]  block ids; the row stride
///                                 may exceed maxBlocks
/// @param[in]     specToken        int64 [numSeqs, k]          token ids; k >= 1
/// @param[in]     acceptedNum      int64 [numSeqs]             spec tokens of the last step that
///                                 were accepted
/// @param[in]     numSeqs          queries; < 200000000
/// @param[in]     numQueries       the same number; there is no padding
/// @param[in]     blockSize        tokens per block; >= 1
/// @param[out]    workspaceSize    bytes of device memory phase two needs; may be 0
/// @param[out]    executor         plan for one aclnnAdvanceStepV2 call
///
/// All tensors are ND; [numSeqs, w] is accepted for [numSeqs * w]. With specToken and acceptedNum
/// both null the call is as aclnnAdvanceStepGetWorkspaceSize, with its shapes and its rules, and
/// phase two is aclnnAdvanceStepV2.
///
/// @retval ACLNN_SUCCESS                 both outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR       a pointer is null; of specToken and acceptedNum one alone
/// @retval ACLNN_ERR_PARAM_INVALID       a dtype, format or layout is not the one above, or an
///                                       in/out tensor overlaps another tensor
/// @retval ACLNN_ERR_INNER_TILING_ERROR  a shape or an attribute is not as above
/// @retval ACLNN_ERR_RUNTIME_ERROR       the thread has no current context
/// On error no output is written and aclGetRecentErrMsg() names the argument.
ADVSTEP_API aclnnStatus aclnnAdvanceStepV2GetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs, int64_t numQueries,
    int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor);

/// Phase two: queues the planned run on the stream and returns. Spends the executor, also when it
/// fails, unless aclSetAclOpExecutorRepeatable was called.
///
/// Data errors show at the next synchronisation of the stream as
/// ACL_ERROR_RT_VECTOR_CORE_EXCEPTION; the message names the lowest bad row, its query and its
/// values, and no tensor of the run has been written. Later work of the stream goes on.
///
/// @param[in] workspace      device memory of at least the planned size, of any alignment; may be
///                           NULL if workspaceSize is 0
/// @param[in] workspaceSize  bytes at workspace
/// @param[in] executor       from phase one
/// @param[in] stream         of the current context; NULL for its default stream
///
/// @retval ACLNN_SUCCESS            queued
/// @retval ACLNN_ERR_PARAM_NULLPTR  executor is null; workspace is null with workspaceSize > 0; a
///                                  tensor's address is null
/// @retval ACLNN_ERR_PARAM_INVALID  workspaceSize is less than planned; the executor is spent or of
///                                  another operator
/// @retval ACLNN_ERR_RUNTIME_ERROR  no current context, or one of another device; a bad stream, or
///                                  one that has stopped on a failure; a tensor that is not inside
///                                  one allocation of the device, or not aligned to its elements.
///                                  The message has the runtime's code.
ADVSTEP_API aclnnStatus aclnnAdvanceStepV2(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNNOP_ACLNN_ADVANCE_STEP_V2_H_ */
