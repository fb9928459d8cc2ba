// SPDX-License-Identifier: Apache-2.0
/// AdvanceStep as a graph operator: docs/operators/advance_step.md and advance_step_v2.md.
#ifndef OPS_OP_PROTO_INC_IS_ADVANCE_STEP_H_
#define OPS_OP_PROTO_INC_IS_ADVANCE_STEP_H_

#include "../graph/operator_reg.h"

namespace ge {

/// Moves the queries of a batch one token forward, as aclnnAdvanceStep does. If both optional
/// inputs are linked and not empty, it does so as aclnnAdvanceStepV2. Tensors are INT64 and have
/// the shapes of the aclnn calls. An output starts as a copy of the input of the same name; the
/// input is not changed. All four outputs have the shape and data type of input_tokens.
REG_OP(AdvanceStep)
    .INPUT(input_tokens, TensorType({DT_INT64}))
    .INPUT(sampled_token_ids, TensorType({DT_INT64}))
    .INPUT(input_positions, TensorType({DT_INT64}))
    .INPUT(seq_lens, TensorType({DT_INT64}))
    .INPUT(slot_mapping, TensorType({DT_INT64}))
    .INPUT(block_tables, TensorType({DT_INT64}))
    .OPTIONAL_INPUT(spec_token, TensorType({DT_INT64}))
    .OPTIONAL_INPUT(accepted_num, TensorType({DT_INT64}))
    .OUTPUT(input_tokens, TensorType({DT_INT64}))
    .OUTPUT(input_positions, TensorType({DT_INT64}))
    .OUTPUT(seq_lens, TensorType({DT_INT64}))
    .OUTPUT(slot_mapping, TensorType({DT_INT64}))
    .REQUIRED_ATTR(num_seqs, Int)
    .REQUIRED_ATTR(num_queries, Int)
    .REQUIRED_ATTR(block_size, Int)
    .OP_END_FACTORY_REG(AdvanceStep)

}  // namespace ge

#endif  // OPS_OP_PROTO_INC_IS_ADVANCE_STEP_H_
