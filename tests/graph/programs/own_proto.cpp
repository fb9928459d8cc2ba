// SPDX-License-Identifier: Apache-2.0
// A copy of the operator's header with its guard, in place of the one here.
#ifndef OPS_OP_PROTO_INC_IS_ADVANCE_STEP_H_
#define OPS_OP_PROTO_INC_IS_ADVANCE_STEP_H_
#include "graph/operator_reg.h"
namespace ge {
REG_OP(AdvanceStep)
    .INPUT(input_tokens, TensorType({DT_INT64}))
    .OPTIONAL_INPUT(spec_token, TensorType({DT_INT64}))
    .OUTPUT(input_tokens, TensorType({DT_INT64}))
    .REQUIRED_ATTR(num_seqs, Int)
    .OP_END_FACTORY_REG(AdvanceStep)
}  // namespace ge
#endif

#include "ops_proto_nn.h"

#include "../op_graph/advance_step_proto.h"

int main() { return ge::op::AdvanceStep("own").GetInputsSize() == 2 ? 0 : 1; }
