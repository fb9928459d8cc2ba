// SPDX-License-Identifier: Apache-2.0
/// Sources of a graph: what comes from outside, and constants.
#ifndef ADVSTEP_OP_PROTO_ARRAY_OPS_H_
#define ADVSTEP_OP_PROTO_ARRAY_OPS_H_

#include "graph/operator_reg.h"

namespace ge {

/// One tensor of Session::RunGraph: the one at index, if the indices of a graph's n Data operators
/// are 0 to n - 1. x has no link; its description is replaced by the tensor's.
REG_OP(Data)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(index, Int, 0)
    .OP_END_FACTORY_REG(Data)

/// A Data whose memory an operator may update in place: the program's own memory in
/// Session::RunGraphWithStreamAsync, a copy of it in Session::RunGraph.
REG_OP(RefData)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(index, Int, 0)
    .OP_END_FACTORY_REG(RefData)

/// State of the session under the operator's name, for all its graphs that have a Variable of this
/// name. It starts as `value`, or as zeros of the description of y, or of x. An operator that updates
/// it in place changes the state for later runs. x has no link.
REG_OP(Variable)
    .INPUT(x, TensorType::ALL())
    .OUTPUT(y, TensorType::ALL())
    .ATTR(index, Int, 0)
    .ATTR(value, Tensor, Tensor())
    .OP_END_FACTORY_REG(Variable)

/// The tensor of its attribute.
REG_OP(Const)
    .OUTPUT(y, TensorType::ALL())
    .ATTR(value, Tensor, Tensor())
    .OP_END_FACTORY_REG(Const)

/// Another name of Const.
REG_OP(Constant)
    .OUTPUT(y, TensorType::ALL())
    .ATTR(value, Tensor, Tensor())
    .OP_END_FACTORY_REG(Constant)

}  // namespace ge

#endif  // ADVSTEP_OP_PROTO_ARRAY_OPS_H_
