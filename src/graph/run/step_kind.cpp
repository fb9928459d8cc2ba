// SPDX-License-Identifier: Apache-2.0
// The graph operator Step: signature and aclnn calls.

#include "aclnnop/aclnn_step.h"
#include "src/base/at_load.h"
#include "src/graph/run/operator_kind.h"

namespace advstep::graph {
namespace {

aclnnStatus Plan(const OperatorArguments& with, uint64_t* workspaceSize, aclOpExecutor** executor) {
    const auto& t = with.tensors;
    return aclnnStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9],
                                     t[10], t[11], t[12], t[13], t[14], t[15], t[16], t[17], t[18],
                                     t[19], t[20], t[21], with.attrs[0], with.attrs[1],
                                     workspaceSize, executor);
}

Outcome ChooseStep(const OperatorArguments& /*arguments*/, AclnnCalls* calls) {
    *calls = {Plan, aclnnStep};
    return {};
}

}  // namespace

const OperatorKind& StepKind() {
    static const OperatorKind kind = {"Step",
                                      {{"stop_flags", false},
                                       {"seq_lens_this_time", false},
                                       {"ori_seq_lens_encoder", false},
                                       {"seq_lens_encoder", false},
                                       {"seq_lens_decoder", false},
                                       {"block_tables", false},
                                       {"encoder_block_lens", false},
                                       {"is_block_step", false},
                                       {"step_block_list", false},
                                       {"step_lens", false},
                                       {"recover_block_list", false},
                                       {"recover_lens", false},
                                       {"need_block_list", false},
                                       {"need_block_len", false},
                                       {"used_list_len", false},
                                       {"free_list", false},
                                       {"free_list_len", false},
                                       {"input_ids", false},
                                       {"pre_ids", false},
                                       {"step_idx", false},
                                       {"next_tokens", false},
                                       {"first_token_ids", false}},
                                      {{"stop_flags_out", 0, 0},
                                       {"seq_lens_this_time_out", 1, 1},
                                       {"seq_lens_encoder_out", 3, 3},
                                       {"seq_lens_decoder_out", 4, 4},
                                       {"block_tables_out", 5, 5},
                                       {"encoder_block_lens_out", 6, 6},
                                       {"is_block_step_out", 7, 7},
                                       {"step_block_list_out", 8, 8},
                                       {"step_lens_out", 9, 9},
                                       {"recover_block_list_out", 10, 10},
                                       {"recover_lens_out", 11, 11},
                                       {"need_block_list_out", 12, 12},
                                       {"need_block_len_out", 13, 13},
                                       {"used_list_len_out", 14, 14},
                                       {"free_list_out", 15, 15},
                                       {"free_list_len_out", 16, 16},
                                       {"input_ids_out", 17, 17},
                                       {"first_token_ids_out", 21, 21}},
                                      {"block_size", "encoder_decoder_block_num"},
                                      ChooseStep};
    return kind;
}

namespace {

const AtLoad makeStepKind(&StepKind);

}  // namespace

}  // namespace advstep::graph
