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
    "npu_kv_quant_sparse_flash_attention(Tensor query, Tensor key, Tensor value, Tensor sparse_indices, "
    "float scale_value, *, int key_quant_mode=1, int value_quant_mode=1, Tensor? key_dequant_scale=None, "
    "Tensor? value_dequant_scale=None, Tensor? block_table=None, Tensor? actual_seq_lengths_query=None, "
    "Tensor? actual_seq_lengths_kv=None, int sparse_block_size=1, str layout_query='BSND', "
    "str layout_kv='BSND', int sparse_mode=3, int pre_tokens=9223372036854775807, "
    "int next_tokens=9223372036854775807, int attention_mode=2, int quant_scale_repo_mode=1, int tile_size=128, "
    "int rope_head_dim=64, bool return_softmax_lse=False) -> (Tensor attention_out, Tensor softmax_max, "
    "Tensor softmax_sum)",
    "moe_gating_top_k_hash(Tensor x, int k, Tensor? bias=None, Tensor? input_ids=None, Tensor? tid2eid=None, "
    "int k_group=1, int group_count=1, float routed_scaling_factor=1.0, float eps=1e-20, "
    "int group_select_mode=0, int renorm=0, int norm_type=0, bool out_flag=False) -> "
    "(Tensor y, Tensor expert_idx, Tensor out)",
    "npu_fused_gdn_gating(Tensor A_log, Tensor a, Tensor b, Tensor dt_bias, float beta=1.0, float threshold=20.0)"
    " -> (Tensor g, Tensor beta_output)",
    "npu_recurrent_gated_delta_rule(Tensor query, Tensor key, Tensor value, Tensor(a!) state, *, Tensor? "
    "beta=None, float? scale=None, Tensor? actual_seq_lengths=None, Tensor? ssm_state_indices=None, Tensor? "
    "num_accepted_tokens=None, Tensor? g=None, Tensor? gk=None) -> Tensor",
    "chunk_gated_delta_rule_fwd_h(Tensor k, Tensor w, Tensor u, Tensor? g=None, *, Tensor? gk=None, Tensor? "
    "initial_state=None, bool? output_final_state=False, int? chunk_size=None, bool? save_new_value=True, int[]? "
    "cu_seqlens=None, int[]? chunk_indices=None, bool? use_exp2=False, bool? transpose_state_layout=False) -> "
    "(Tensor h_out, Tensor v_new_out, Tensor final_state_out)",
    "chunk_fwd_o(Tensor q, Tensor k, Tensor v, Tensor h, float scale, *, Tensor? g=None, Tensor? g_gamma=None, "
    "int[]? cu_seqlens=None, int[]? chunk_indices=None, int? chunk_size=None, bool? transpose_state_layout=False)"
    " -> Tensor",
    "npu_causal_conv1d_custom(Tensor output, Tensor x, Tensor weight, Tensor conv_state, Tensor? bias_opt, "
    "Tensor? query_start_loc_opt, Tensor? cache_indices_opt, Tensor? initial_state_mode_opt, Tensor? "
    "num_accepted_tokens_opt, int activation_mode, int pad_slot_id, int run_mode) -> (Tensor output)",
    "transpose_kv_cache_by_block(Tensor[] kCache, Tensor[] vCache, Tensor blockIDs, int blockSize, int headNum, "
    "int headDim, int splitNum, int layerNum) -> ()",
    "npu_reshape_and_cache_bnsd(Tensor q, Tensor k_comp, Tensor slot_mapping, Tensor seq_len, Tensor k_out) -> "
    "Tensor",
    "store_kv_block_metadata(Tensor slot_mapping_npu, Tensor group_len, Tensor group_key_idx, Tensor "
    "group_key_cache_idx, int block_size=0)-> ()",
    "store_kv_block(Tensor key_in, Tensor key_cache_in, Tensor group_len, Tensor group_key_idx,Tensor "
    "group_key_cache_idx, int block_size=0) -> ()",
    "batch_matmul_transpose(Tensor tensor_a, Tensor tensor_b, Tensor tensor_c, str? format_mode=None, str? "
    "quant_mode=None) -> ()",
    "npu_ngram_spec_decode(Tensor(a!) token_ids, Tensor num_tokens_no_spec, Tensor sampled_token_ids, Tensor "
    "discard_request_mask, int vocab_size, int min_n, int max_n, int k) -> (Tensor token_ids, Tensor "
    "next_token_ids, Tensor draft_token_ids, Tensor num_valid_draft_tokens)",
    "npu_dequant_swiglu_quant(Tensor x, *, Tensor? weight_scale=None, Tensor? activation_scale=None, Tensor? "
    "bias=None, Tensor? quant_scale=None, Tensor? quant_offset=None, Tensor? group_index=None, bool "
    "activate_left=True, int quant_mode=0, int swiglu_mode=0, float clamp_limit=0.0, float glu_alpha=1.0, float "
    "glu_bias=0.0) -> (Tensor y, Tensor scale)",
    "grouped_matmul_swiglu_quant_weight_nz(Tensor x, Tensor weight, Tensor weight_scale, Tensor x_scale, Tensor "
    "group_list, *, Tensor? bias=None, Tensor? offset=None, float swiglu_limit=0.0) -> (Tensor output, Tensor "
    "output_scale, Tensor output_offset)",
    "grouped_matmul_swiglu_quant_weight_nz_tensor_list(Tensor x, Tensor[] weight, Tensor[] weight_scale, Tensor "
    "x_scale, Tensor group_list, *, Tensor? bias=None, Tensor? offset=None, float swiglu_limit=0.0) -> (Tensor "
    "output, Tensor output_scale, Tensor output_offset)",
    "device_print_tensor(Tensor tensor) -> ()",
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
