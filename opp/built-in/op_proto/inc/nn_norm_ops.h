// SPDX-License-Identifier: Apache-2.0
/// Normalisations, of src/operators/graph_types.txt: docs/graph_mode.md.
#ifndef ADVSTEP_OP_PROTO_NN_NORM_OPS_H_
#define ADVSTEP_OP_PROTO_NN_NORM_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(AddRmsNorm)
    .INPUT(x1, TensorType::ALL())
    .INPUT(x2, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .OUTPUT(x, TensorType::ALL())
    .ATTR(epsilon, Float, 1e-6F)
    .OP_END_FACTORY_REG(AddRmsNorm)

REG_OP(LayerNormV3)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .INPUT(beta, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(mean, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(begin_norm_axis, Int, 0)
    .ATTR(begin_params_axis, Int, 0)
    .ATTR(epsilon, Float, 1e-5F)
    .OP_END_FACTORY_REG(LayerNormV3)

REG_OP(LogSoftmaxV2)
    .INPUT(logits, TensorType::ALL())
    .OUTPUT(logsoftmax, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .OP_END_FACTORY_REG(LogSoftmaxV2)

REG_OP(RmsNorm)
    .INPUT(x, TensorType::ALL())
    .INPUT(gamma, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OUTPUT(rstd, TensorType::ALL())
    .ATTR(epsilon, Float, 1e-6F)
    .OP_END_FACTORY_REG(RmsNorm)

REG_OP(SoftmaxV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(axes, ListInt, {-1})
    .ATTR(half_to_float, Bool, false)
    .OP_END_FACTORY_REG(SoftmaxV2)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_NN_NORM_OPS_H_
