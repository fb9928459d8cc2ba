// SPDX-License-Identifier: Apache-2.0
// The two calls of Add: out = self + alpha * other, with broadcasting.
#ifndef OWN_OPERATOR_ACLNN_ADD_H_
#define OWN_OPERATOR_ACLNN_ADD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a call.
 *
 * self   any shape of up to 8 axes; ACL_FLOAT, ACL_INT32 or ACL_INT64; read
 * other  the same dtype; its shape and that of self broadcast to one; read
 * alpha  a number; an integer for tensors of integers. It is converted to the tensors' dtype
 * out    the same dtype and the shape that both broadcast to; written, in memory of its own
 *
 * Tensors are contiguous. Integers wrap around. A float product is rounded before the sum.
 *
 * ACLNN_ERR_PARAM_NULLPTR       an argument is null
 * ACLNN_ERR_PARAM_INVALID       a wrong dtype, format or layout; alpha is no number; out overlaps
 * ACLNN_ERR_INNER_TILING_ERROR  the shapes do not broadcast, or out has another shape */
aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                     const aclScalar* alpha, aclTensor* out,
                                     uint64_t* workspaceSize, aclOpExecutor** executor);

/* Queues a planned call. It needs no workspace. */
aclnnStatus aclnnAdd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                     aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OWN_OPERATOR_ACLNN_ADD_H_ */
