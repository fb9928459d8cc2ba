// SPDX-License-Identifier: Apache-2.0
// The two calls of PagedAttention: the attention of one token of each sequence over a paged KV
// cache.
#ifndef OWN_OPERATOR_ACLNN_PAGED_ATTENTION_H_
#define OWN_OPERATOR_ACLNN_PAGED_ATTENTION_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a call. For each sequence and each head, with keys and values of its first seqLens tokens:
 *     out = sum(exp(scale * query . key) * value) / sum(exp(scale * query . key))
 * Token t of sequence s is entry t % blockSize of block blockTables[s][t / blockSize].
 *
 * query        [numSeqs, numHeads, headSize], ACL_FLOAT; read
 * keyCache     [numBlocks, blockSize, numKvHeads, headSize], ACL_FLOAT; read. numHeads is a
 * multiple of numKvHeads, and head h reads the key-value head h / (numHeads / numKvHeads)
 * valueCache   as keyCache; read
 * blockTables  [numSeqs, maxBlocks], ACL_INT32 or ACL_INT64; read; rows may be apart
 * seqLens      [numSeqs] or [numSeqs, 1], ACL_INT32 or ACL_INT64; read; 1 to maxBlocks * blockSize
 * scale        finite
 * out          [numSeqs, numHeads, headSize], ACL_FLOAT; written
 *
 * ACLNN_ERR_PARAM_NULLPTR       an argument is null
 * ACLNN_ERR_PARAM_INVALID       a wrong dtype, format or layout; out overlaps another tensor
 * ACLNN_ERR_INNER_TILING_ERROR  a wrong shape or scale
 *
 * A synchronisation returns ACL_ERROR_RT_VECTOR_CORE_EXCEPTION for a length or a block id out of
 * its range, with the sequence in the message. Nothing has been written then. */
aclnnStatus aclnnPagedAttentionGetWorkspaceSize(const aclTensor* query, const aclTensor* keyCache,
                                                const aclTensor* valueCache,
                                                const aclTensor* blockTables,
                                                const aclTensor* seqLens, double scale,
                                                aclTensor* out, uint64_t* workspaceSize,
                                                aclOpExecutor** executor);

/* Queues a planned call. It needs no workspace. */
aclnnStatus aclnnPagedAttention(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OWN_OPERATOR_ACLNN_PAGED_ATTENTION_H_ */
