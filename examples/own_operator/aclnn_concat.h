// SPDX-License-Identifier: Apache-2.0
// The two calls of Concat: out is the tensors of a list, one after another along an axis.
#ifndef OWN_OPERATOR_ACLNN_CONCAT_H_
#define OWN_OPERATOR_ACLNN_CONCAT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plans a call.
 *
 * tensors  at least one tensor; any dtype of whole bytes; equal dtypes, and equal shapes except
 *          along dim; any strides and offsets; read
 * dim      the axis, from -rank to rank - 1
 * out      the same dtype; the tensors' shape, with the sum of their dims along dim; any strides;
 *          written. It may overlap the tensors
 *
 * ACLNN_ERR_PARAM_NULLPTR       an argument or a tensor of the list is null
 * ACLNN_ERR_PARAM_INVALID       a wrong dtype; an empty list
 * ACLNN_ERR_INNER_TILING_ERROR  a wrong shape or dim */
aclnnStatus aclnnConcatGetWorkspaceSize(const aclTensorList* tensors, int64_t dim, aclTensor* out,
                                        uint64_t* workspaceSize, aclOpExecutor** executor);

/* Queues a planned call. It needs no workspace. */
aclnnStatus aclnnConcat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* OWN_OPERATOR_ACLNN_CONCAT_H_ */
