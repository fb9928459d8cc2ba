# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's operators, torch.ops._C_ascend, declared from a file as its module has them."""

import pathlib
import tempfile
import types

import torch

from advance_step._vllm import custom_operators

SCHEMAS = (
    "npu_add_rms_norm_bias(Tensor x1, Tensor x2, Tensor gamma, Tensor? beta=None, float epsilon=1e-6)"
    "-> (Tensor y ,Tensor rstd, Tensor x)",
    "npu_gemma_rms_norm(Tensor x, Tensor gamma, float epsilon=1e-6)-> (Tensor y ,Tensor rstd)",
    "npu_rms_norm_dynamic_quant(Tensor x, Tensor gamma, Tensor? smooth_scale=None, Tensor? beta=None, "
    "float epsilon=1e-6) -> (Tensor y_out, Tensor scale_out)",
    "get_masked_input_and_mask(Tensor input,\n int org_vocab_start_index, int org_vocab_end_index, "
    "int num_org_vocab_padding, int added_vocab_start_index, int added_vocab_end_index) "
    "-> (Tensor masked_input, Tensor mask)",
    "bgmv_shrink(Tensor! x, Tensor! weight, Tensor! indices, Tensor! y, float scale) -> ()",
    "bgmv_expand(Tensor! x, Tensor! weight, Tensor! indices, Tensor! y, int slice_offset, int slice_size) "
    "-> Tensor",
    "sgmv_shrink(Tensor! x, Tensor! weight, Tensor! lora_indices, Tensor! seq_len, Tensor! y, float scale) "
    "-> ()",
    "sgmv_expand(Tensor! x, Tensor! weight, Tensor! lora_indices, Tensor! seq_len, Tensor! y, "
    "int slice_offset, int slice_size) -> Tensor",
    "swap_blocks(Tensor! x, Tensor! y, Tensor z) -> ()",
    "swap_blocks_batch(Tensor x, Tensor y, Tensor z, int direction) -> ()",
    "inplace_partial_rotary_mul(Tensor(a!) x, Tensor r1, Tensor r2, str rotary_mode, int[] partial_slice) "
    "-> ()",
    "npu_scatter_nd_update_v2(Tensor(a!) var, Tensor indices, Tensor update) -> ()",
    "npu_moe_init_routing_custom(Tensor x, Tensor expert_idx, *, Tensor? scale=None, Tensor? offset=None, "
    "int active_num=-1, int expert_capacity=-1, int expert_num=-1, int drop_pad_mode=0, "
    "int expert_tokens_num_type=0, bool expert_tokens_num_flag=False, int quant_mode=0, "
    "int[2] active_expert_range=[], int row_idx_type=0) -> (Tensor, Tensor, Tensor, Tensor)",
    "npu_sparse_flash_attention(Tensor query, Tensor key, Tensor value, Tensor sparse_indices, "
    "float scale_value, *, Tensor? block_table=None, Tensor? actual_seq_lengths_query=None, "
    "Tensor? actual_seq_lengths_kv=None, Tensor? query_rope=None, Tensor? key_rope=None, "
    "int sparse_block_size=1, str layout_query='BSND', str layout_kv='BSND', int sparse_mode=3, "
    "int pre_tokens=9223372036854775807, int next_tokens=9223372036854775807, int attention_mode=2, "
    "bool return_softmax_lse=False) -> (Tensor attention_out, Tensor softmax_max, Tensor softmax_sum)",
    "npu_lightning_indexer(Tensor query, Tensor key, Tensor weights, *, Tensor? actual_seq_lengths_query=None, "
    "Tensor? actual_seq_lengths_key=None, Tensor? block_table=None, str layout_query=\"BSND\", "
    "str layout_key=\"BSND\", int sparse_count=2048, int sparse_mode=3, int pre_tokens=9223372036854775807, "
    "int next_tokens=9223372036854775807, bool return_value=False) -> (Tensor sparse_indices, Tensor sparse_values)",
    "npu_lightning_indexer_quant(Tensor query, Tensor key, Tensor weights, Tensor query_dequant_scale, "
    "Tensor key_dequant_scale, *, Tensor? actual_seq_lengths_query=None, Tensor? actual_seq_lengths_key=None, "
    "Tensor? block_table=None, int query_quant_mode=0, int key_quant_mode=0, str layout_query='BSND', "
    "str layout_key='BSND', int sparse_count=2048, int sparse_mode=3) -> Tensor",
    "npu_copy_and_expand_eagle_inputs(Tensor target_token_ids, Tensor target_positions, "
    "Tensor next_token_ids, Tensor query_start_loc, Tensor query_end_loc, int padding_token_id, "
    "int parallel_drafting_token_id, int num_padding_slots_per_request, bool shift_input_ids, "
    "int total_draft_tokens) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
    "npu_sign_bits_pack(Tensor input, int size) -> Tensor",
    "moe_gating_top_k(Tensor x, int k, int k_group, int group_count, int group_select_mode, int renorm, "
    "int norm_type, bool out_flag, float routed_scaling_factor, float eps,Tensor? bias_opt=None)"
    "-> (Tensor y ,Tensor expert_idx, Tensor out)",
)


def load(*texts):
    """Loads a file with these texts among others as vllm_ascend_C."""
    data = b"\x7fELF\0 not(a schema\0f(Wrong x) -> ()\0" + b"\0\0".join(text.encode() for text in texts) + b"\0"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "vllm_ascend_C.so")
        file.write_bytes(data)
        custom_operators.Loader(str(file)).exec_module(types.ModuleType("vllm_ascend_C"))


load(*SCHEMAS)
ops = torch.ops._C_ascend
