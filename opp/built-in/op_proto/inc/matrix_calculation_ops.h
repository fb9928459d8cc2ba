// SPDX-License-Identifier: Apache-2.0
/// Products of matrices, of src/operators/graph_types.txt: docs/graph_mode.md.
#ifndef ADVSTEP_OP_PROTO_MATRIX_CALCULATION_OPS_H_
#define ADVSTEP_OP_PROTO_MATRIX_CALCULATION_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(BatchMatMul)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(adj_x1, Bool, false)
    .ATTR(adj_x2, Bool, false)
    .OP_END_FACTORY_REG(BatchMatMul)

REG_OP(BatchMatMulV2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(adj_x1, Bool, false)
    .ATTR(adj_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(BatchMatMulV2)

REG_OP(MatMul)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_x1, Bool, false)
    .ATTR(transpose_x2, Bool, false)
    .OP_END_FACTORY_REG(MatMul)

REG_OP(MatMulV2)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .OPTIONAL_INPUT(bias, TensorType::ALL())
    .OPTIONAL_INPUT(offset_w, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(transpose_x1, Bool, false)
    .ATTR(transpose_x2, Bool, false)
    .ATTR(offset_x, Int, 0)
    .OP_END_FACTORY_REG(MatMulV2)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_MATRIX_CALCULATION_OPS_H_
