# SPDX-License-Identifier: Apache-2.0
"""The operators of torch that torch_npu's own code computes right on CANN's operators: one table.

They are those overloads for which torch_npu has a kernel, and for which torch's table of operators gives
the values of "cpu", bit for bit, through aclnn functions that compute. Not here: operators whose
function refuses; those that draw, because an aclnn call draws by seed and offset alone; those
with outputs larger than the result (nonzero, masked_select), whose size the client asks for; and
those whose results torch_npu gives other dtypes or roundings than "cpu".
"""

from __future__ import annotations

_NAMES = """
_adaptive_avg_pool2d.default _adaptive_avg_pool2d_backward.default _adaptive_avg_pool3d.default
_adaptive_avg_pool3d_backward.default _chunk_cat.default _convolution.default _log_softmax.default
_log_softmax_backward_data.default _softmax.default _softmax_backward_data.default
_upsample_bilinear2d_aa.default _upsample_bilinear2d_aa_backward.default abs.default acos.default
acosh.default adaptive_max_pool2d.default adaptive_max_pool2d_backward.default add.Scalar
add.Tensor add_.Scalar add_.Tensor addbmm.default addcdiv.default addcmul.default addr.default
all.default all.dim amax.default amax.out amin.default aminmax.default any.default any.dim
arange.default arange.start_step argmin.default asin.default asinh.default atan.default
atan2.default atanh.default avg_pool2d.default avg_pool2d_backward.default avg_pool3d.default
avg_pool3d_backward.default binary_cross_entropy.default binary_cross_entropy_backward.default
bitwise_and.Tensor bitwise_and_.Tensor bitwise_not.default bitwise_or.Tensor bitwise_xor.Tensor
bmm.default cat.default ceil.default ceil_.default celu.default channel_shuffle.default
clamp.Tensor clamp_.default clamp_max.Tensor clamp_min.Tensor clamp_min.default clamp_min_.Tensor
clamp_min_.default col2im.default complex.default constant_pad_nd.default convolution.default
convolution_backward.default cos.default cosh.default count_nonzero.default cumsum.default
div.Scalar div.Tensor div.Tensor_mode div.out div_.Scalar div_.Tensor dot.default elu.default
elu_backward.default embedding.default embedding_dense_backward.default eq.Scalar eq.Tensor
equal.default erf.default erfc.default erfinv.default exp.default exp2.default exp_.default
expm1.default eye.default eye.m flip.default floor.default floor_divide.default fmod.Tensor
frac.default ge.Scalar ge.Tensor glu.default glu_backward.default grid_sampler_2d.default
grid_sampler_2d_backward.default grid_sampler_3d.default grid_sampler_3d_backward.default
gt.Scalar gt.Tensor hardsigmoid.default hardsigmoid_backward.default hardswish.default
hardtanh.default hardtanh_backward.default im2col.default index_add.default index_select.default
isfinite.default isnan.default le.Scalar le.Tensor leaky_relu.default leaky_relu_backward.default
lerp.Scalar lerp_.Tensor linalg_vector_norm.default linspace.default log.default log10.default
log1p.default log2.default log_.default logaddexp.default logaddexp2.default logical_and.default
logical_and_.default logical_not.default logical_not_.default logical_or.default
logical_or_.default logical_xor.default logsumexp.default lt.Scalar lt.Tensor masked_fill_.Scalar
matmul.default max.default max.dim maximum.default mean.default mean.dim median.dim min.default
min.dim minimum.default mish.default mm.default mm.out mse_loss.default mse_loss_backward.default
mul.Scalar mul.Tensor mul.out mul_.Scalar mul_.Tensor mv.default nan_to_num.default
native_batch_norm_backward.default native_group_norm.default native_group_norm_backward.default
native_layer_norm_backward.default ne.Scalar ne.Tensor neg.default neg_.default
nll_loss_backward.default nll_loss_forward.default norm.ScalarOpt_dim ones.default
ones_like.default polar.default pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor pow_.Scalar
reciprocal.default reciprocal_.default reflection_pad1d.default relu.default relu_.default remainder.Scalar remainder.Tensor repeat.default
replication_pad1d.default replication_pad2d.default roll.default round.decimals round.default
rsqrt.default scatter_.value scatter_add.default sigmoid.default sigmoid_backward.default
sign.default silu.default silu_backward.default sin.default sinc.default sinh.default
smooth_l1_loss.default smooth_l1_loss_backward.default soft_margin_loss.default
soft_margin_loss_backward.default softplus.default sort.default sqrt.default sqrt_.default
stack.default std.correction sub.Scalar sub.Tensor sub_.Tensor sum.default sum.dim_IntList
tan.default tanh.default tanh_backward.default threshold.default threshold_backward.default
topk.default tril.default tril_.default triu.default trunc.default upsample_bicubic2d.default
upsample_bicubic2d_backward.default upsample_bilinear2d.default
upsample_bilinear2d_backward.default upsample_linear1d.default upsample_linear1d_backward.default
upsample_nearest1d_backward.default upsample_trilinear3d.default
upsample_trilinear3d_backward.default var.correction vdot.default where.self xlogy.Tensor
zero_.default zeros.default
"""


# Those of the namespace "npu", all overloads of each.
_NPU_NAMES = """
_npu_moe_token_unpermute npu_add_layer_norm npu_add_rms_norm npu_add_rms_norm_cast
npu_add_rms_norm_dynamic_quant npu_add_rms_norm_quant npu_clipped_swiglu npu_deep_norm
npu_dynamic_quant npu_fused_matmul npu_geglu npu_geglu_grad npu_gelu_mul npu_gemma_rms_norm
npu_group_norm_silu npu_group_norm_swish npu_group_quant npu_grouped_matmul
npu_grouped_matmul_finalize_routing npu_interleave_rope npu_moe_distribute_combine
npu_moe_distribute_combine_add_rms_norm npu_moe_distribute_combine_v2 npu_moe_distribute_dispatch
npu_moe_distribute_dispatch_v2 npu_moe_gating_top_k npu_moe_init_routing_v2 npu_moe_token_permute
npu_moe_token_permute_grad_v2 npu_moe_token_unpermute npu_moe_token_unpermute_grad_v2
npu_quant_matmul npu_quantize npu_rms_norm npu_rms_norm_backward npu_scatter_nd_update_ npu_swiglu
npu_swiglu_backward npu_swiglu_quant npu_trans_quant_param npu_transpose_batchmatmul
npu_weight_quant_batchmatmul
"""


# Those of the namespace "npu" that torch_npu's own code runs in every mode, if the extension is there: one
# task each, which a task group of a graph records and updates with new lengths.
EVERY_MODE = ("npu_fused_infer_attention_score", "npu_fused_infer_attention_score_v2",
              "npu_prompt_flash_attention", "npu_incre_flash_attention")


def names() -> tuple[str, ...]:
    """Returns the names, such as "add.Tensor" and "relu.default"."""
    return tuple(_NAMES.split())


def npu_names() -> tuple[str, ...]:
    """Returns the names of operators of the namespace "npu", without it and without overloads."""
    return (*_NPU_NAMES.split(), *EVERY_MODE)
