// SPDX-License-Identifier: Apache-2.0
/// Step as a graph operator: docs/operators/step.md. CANN has no such operator.
#ifndef ADVSTEP_OP_GRAPH_STEP_PROTO_H_
#define ADVSTEP_OP_GRAPH_STEP_PROTO_H_

#include "../graph/operator_reg.h"

namespace ge {

/// Releases, dispatches, preempts and recovers KV cache blocks, as aclnnStep does. The output
/// NAME_out starts as a copy of the input NAME and has its shape and data type; the input is not
/// changed. Inputs without an output are only read.
REG_OP(Step)
    .INPUT(stop_flags, TensorType({DT_BOOL}))
    .INPUT(seq_lens_this_time, TensorType({DT_INT32}))
    .INPUT(ori_seq_lens_encoder, TensorType({DT_INT32}))
    .INPUT(seq_lens_encoder, TensorType({DT_INT32}))
    .INPUT(seq_lens_decoder, TensorType({DT_INT32}))
    .INPUT(block_tables, TensorType({DT_INT32}))
    .INPUT(encoder_block_lens, TensorType({DT_INT32}))
    .INPUT(is_block_step, TensorType({DT_BOOL}))
    .INPUT(step_block_list, TensorType({DT_INT32}))
    .INPUT(step_lens, TensorType({DT_INT32}))
    .INPUT(recover_block_list, TensorType({DT_INT32}))
    .INPUT(recover_lens, TensorType({DT_INT32}))
    .INPUT(need_block_list, TensorType({DT_INT32}))
    .INPUT(need_block_len, TensorType({DT_INT32}))
    .INPUT(used_list_len, TensorType({DT_INT32}))
    .INPUT(free_list, TensorType({DT_INT32}))
    .INPUT(free_list_len, TensorType({DT_INT32}))
    .INPUT(input_ids, TensorType({DT_INT64}))
    .INPUT(pre_ids, TensorType({DT_INT64}))
    .INPUT(step_idx, TensorType({DT_INT64}))
    .INPUT(next_tokens, TensorType({DT_INT64}))
    .INPUT(first_token_ids, TensorType({DT_INT64}))
    .OUTPUT(stop_flags_out, TensorType({DT_BOOL}))
    .OUTPUT(seq_lens_this_time_out, TensorType({DT_INT32}))
    .OUTPUT(seq_lens_encoder_out, TensorType({DT_INT32}))
    .OUTPUT(seq_lens_decoder_out, TensorType({DT_INT32}))
    .OUTPUT(block_tables_out, TensorType({DT_INT32}))
    .OUTPUT(encoder_block_lens_out, TensorType({DT_INT32}))
    .OUTPUT(is_block_step_out, TensorType({DT_BOOL}))
    .OUTPUT(step_block_list_out, TensorType({DT_INT32}))
    .OUTPUT(step_lens_out, TensorType({DT_INT32}))
    .OUTPUT(recover_block_list_out, TensorType({DT_INT32}))
    .OUTPUT(recover_lens_out, TensorType({DT_INT32}))
    .OUTPUT(need_block_list_out, TensorType({DT_INT32}))
    .OUTPUT(need_block_len_out, TensorType({DT_INT32}))
    .OUTPUT(used_list_len_out, TensorType({DT_INT32}))
    .OUTPUT(free_list_out, TensorType({DT_INT32}))
    .OUTPUT(free_list_len_out, TensorType({DT_INT32}))
    .OUTPUT(input_ids_out, TensorType({DT_INT64}))
    .OUTPUT(first_token_ids_out, TensorType({DT_INT64}))
    .REQUIRED_ATTR(block_size, Int)
    .REQUIRED_ATTR(encoder_decoder_block_num, Int)
    .OP_END_FACTORY_REG(Step)

}  // namespace ge

#endif  // ADVSTEP_OP_GRAPH_STEP_PROTO_H_
