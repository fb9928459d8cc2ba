// SPDX-License-Identifier: Apache-2.0
// The operators of this library as types of graph operators.
#ifndef OWN_OPERATOR_OWN_OPERATOR_PROTO_H_
#define OWN_OPERATOR_OWN_OPERATOR_PROTO_H_

#include "graph/operator_reg.h"

namespace ge {

// [ir]
/// out = self + alpha * other, with broadcasting: aclnn_add.h. Integers need an alpha of Int.
REG_OP(Add)
    .INPUT(self, TensorType({DT_FLOAT, DT_INT32, DT_INT64}))
    .INPUT(other, TensorType({DT_FLOAT, DT_INT32, DT_INT64}))
    .OUTPUT(out, TensorType({DT_FLOAT, DT_INT32, DT_INT64}))
    .ATTR(alpha, Int, 1)
    .OP_END_FACTORY_REG(Add)
    // [/ir]

    /// The attention of a decode step over a paged KV cache: aclnn_paged_attention.h.
    REG_OP(PagedAttention)
    .INPUT(query, TensorType({DT_FLOAT}))
    .INPUT(key_cache, TensorType({DT_FLOAT}))
    .INPUT(value_cache, TensorType({DT_FLOAT}))
    .INPUT(block_tables, TensorType({DT_INT32, DT_INT64}))
    .INPUT(seq_lens, TensorType({DT_INT32, DT_INT64}))
    .OUTPUT(out, TensorType({DT_FLOAT}))
    .REQUIRED_ATTR(scale, Float)
    .OP_END_FACTORY_REG(PagedAttention)

}  // namespace ge

#endif /* OWN_OPERATOR_OWN_OPERATOR_PROTO_H_ */
