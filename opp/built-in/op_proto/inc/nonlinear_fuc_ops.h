// SPDX-License-Identifier: Apache-2.0
/// Activations, of src/operators/graph_types.txt: docs/graph_mode.md.
#ifndef ADVSTEP_OP_PROTO_NONLINEAR_FUC_OPS_H_
#define ADVSTEP_OP_PROTO_NONLINEAR_FUC_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(Elu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(alpha, Float, 1.0F)
    .ATTR(scale, Float, 1.0F)
    .ATTR(input_scale, Float, 1.0F)
    .OP_END_FACTORY_REG(Elu)

REG_OP(FastGelu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(FastGelu)

REG_OP(Gelu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Gelu)

REG_OP(HardSigmoid)
    .INPUT(input_x, TensorType::ALL())
    .OUTPUT(output_y, TensorType::ALL())
    .ATTR(alpha, Float, 0.16666666F)
    .ATTR(beta, Float, 0.5F)
    .OP_END_FACTORY_REG(HardSigmoid)

REG_OP(HardSwish)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(HardSwish)

REG_OP(LeakyRelu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(negative_slope, Float, 0.0F)
    .OP_END_FACTORY_REG(LeakyRelu)

REG_OP(LogSigmoid)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(LogSigmoid)

REG_OP(Mish)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Mish)

REG_OP(PRelu)
    .INPUT(x, TensorType::ALL())
    .INPUT(weight, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(PRelu)

REG_OP(Relu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Relu)

REG_OP(Relu6)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Relu6)

REG_OP(Selu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Selu)

REG_OP(Sigmoid)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Sigmoid)

REG_OP(Softplus)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Softplus)

REG_OP(SoftplusV2)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(beta, Float, 1.0F)
    .ATTR(threshold, Float, 20.0F)
    .OP_END_FACTORY_REG(SoftplusV2)

REG_OP(SwiGlu)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(dim, Int, -1)
    .OP_END_FACTORY_REG(SwiGlu)

REG_OP(Swish)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(scale, Float, 1.0F)
    .OP_END_FACTORY_REG(Swish)

REG_OP(Tanh)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .OP_END_FACTORY_REG(Tanh)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_NONLINEAR_FUC_OPS_H_
