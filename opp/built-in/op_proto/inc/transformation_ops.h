// SPDX-License-Identifier: Apache-2.0
/// Operators that change shapes, of src/operators/graph_types.txt: docs/graph_mode.md.
#ifndef ADVSTEP_OP_PROTO_TRANSFORMATION_OPS_H_
#define ADVSTEP_OP_PROTO_TRANSFORMATION_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(BroadcastToD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(shape, ListInt)
    .OP_END_FACTORY_REG(BroadcastToD)

REG_OP(ExpandD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(shape, ListInt)
    .OP_END_FACTORY_REG(ExpandD)

REG_OP(TransposeD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(perm, ListInt)
    .OP_END_FACTORY_REG(TransposeD)

REG_OP(Tril)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(diagonal, Int, 0)
    .OP_END_FACTORY_REG(Tril)

REG_OP(Triu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(diagonal, Int, 0)
    .OP_END_FACTORY_REG(Triu)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_TRANSFORMATION_OPS_H_
