// SPDX-License-Identifier: Apache-2.0
/// Operators that select and repeat, of src/operators/graph_types.txt: docs/graph_mode.md.
#ifndef ADVSTEP_OP_PROTO_SELECTION_OPS_H_
#define ADVSTEP_OP_PROTO_SELECTION_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(CumsumD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, Int)
    .ATTR(exclusive, Bool, false)
    .ATTR(reverse, Bool, false)
    .OP_END_FACTORY_REG(CumsumD)

REG_OP(GatherElements)
    .INPUT(x, TensorType::ALL())
    .INPUT(index, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dim, Int, 0)
    .OP_END_FACTORY_REG(GatherElements)

REG_OP(GatherV2D)
    .INPUT(x, TensorType::ALL())
    .INPUT(indices, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, Int)
    .OP_END_FACTORY_REG(GatherV2D)

REG_OP(ReverseV2D)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(axis, ListInt)
    .OP_END_FACTORY_REG(ReverseV2D)

REG_OP(Select)
    .INPUT(condition, TensorType::ALL())
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Select)

REG_OP(SelectV2)
    .INPUT(condition, TensorType::ALL())
    .INPUT(then, TensorType::ALL())
    .INPUT(else, TensorType::ALL())
    .OUTPUT(result, TensorType::ALL())
    .OP_END_FACTORY_REG(SelectV2)

REG_OP(TileD)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .REQUIRED_ATTR(multiples, ListInt)
    .OP_END_FACTORY_REG(TileD)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_SELECTION_OPS_H_
