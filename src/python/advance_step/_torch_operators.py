# SPDX-License-Identifier: Apache-2.0
"""What is special about operators of torch: one table, for the extension and for the Python form.

A name stands for all overloads of an operator ("index"), for one of them ("mode.values"; "default" is
the one without a name), or for all operators that begin so ("linalg_*"). An operator has the flags of
all names that fit. Operators with a kernel of their own, such as copy_ and native_dropout, are known
where these kernels are registered, and those that are composed of others in `_compositions`.
"""

from __future__ import annotations

FLAGS = {
    "torch_npus": "it is about memory, shapes or storages, and stays torch_npu's own",
    "takes_cpu_tensors": "tensors of \"cpu\" may be among its arguments, so its composition stays",
    "names_devices": "its composition names the types of device that it knows, so it is not used",
    "grows": "it gives an empty tensor that it writes in place its size",
    "indexes_by_targets": "torch's kernel for \"cpu\" uses targets as indices without a check",
    # The others are about work that is queued, so the extension alone asks for them.
    "out_form_agrees": "its out= form gives the same bits and strides, as do all that work element by "
                       "element; native_batch_norm and binary_cross_entropy are some that do not",
    # The kernels for "cpu" and "meta" disagree on what is computed beside the results, or on their
    # dtypes and strides, so a trial on "cpu" has to tell them. The tests run each operator with work
    # pending, in several layouts, which finds the names.
    "trial": "they always disagree",
    "trial_if_strided": "they do if an argument has other strides than a new contiguous tensor",
    "trial_if_bool": "they do if an argument is bool",
    "trial_of_dtypes": "\"cpu\" refuses dtypes that \"meta\" takes, also usual ones",
    "no_trial_of_dtypes": "its kernel for \"cpu\" computes with the zeros of a trial without a look",
    "matrices": "it computes factors or solutions of matrices, by LAPACK: \"meta\" gives its outputs "
                "other strides, and zeros in integers are no pivots",
    "default_dtype": "it may compute integers in torch's default dtype, as may all that work element "
                     "by element",
    "compares_number": "it compares with a number, in the default dtype if that is no integer",
    "condition": "its first argument is a condition, which has no part in the dtype of the result",
    "alerts": "\"cpu\" refuses the deterministic mode, at least with some arguments; the mode is one "
              "for the process, so no other thread can have that of the call",
    "adds_in_order": "in the deterministic mode it adds in order, by one thread",
    "mask_indices": "the shape of its result depends on data only if an index is a mask",
    "output_size": "the shape of its result depends on data only without the argument output_size",
    "zeroes": "the library fills large tensors with zeros, which gives their pages back to the host",
}

OPERATORS = {
    "__*": "trial_of_dtypes",
    "addmm": "out_form_agrees",
    "alias": "torch_npus",
    "angle": "trial_if_strided",
    "as_strided": "torch_npus",
    "baddbmm": "out_form_agrees",
    "_batch_norm_with_update": "trial",
    "binary_cross_entropy": "trial_if_strided",
    "bitwise_*": "trial_of_dtypes",
    "bmm": "out_form_agrees",
    "cat": "out_form_agrees",
    "channel_shuffle": "trial_if_strided",
    "cholesky_inverse": "matrices",
    "clone": "takes_cpu_tensors",
    "convolution": "trial_if_strided",
    "convolution_backward": "trial_if_strided",
    "copysign.Tensor": "trial_if_strided",
    "_ctc_loss": "indexes_by_targets",
    "_ctc_loss_backward": "indexes_by_targets",
    "detach": "torch_npus",
    "div.Tensor_mode": "trial_if_strided",
    "_efficientzerotensor": "torch_npus",
    "_embedding_bag": "trial",
    "_embedding_bag_forward_only": "trial",
    "empty": "torch_npus",
    "empty_strided": "torch_npus",
    "empty_with_swapped_memory": "torch_npus",
    "eq.Scalar": "compares_number",
    "_fft_c2r": "trial_if_strided",
    "_fft_r2c": "trial",
    "floor_divide": "trial_if_strided",
    "_foreach_*": "default_dtype",
    "_foreach_copy_": "takes_cpu_tensors",
    "_foreach_pow.Scalar": "trial_if_bool",
    "_foreach_pow.ScalarList": "trial_if_bool",
    "_fused_moving_avg_obs_fq_helper": "grows",
    "gather": "out_form_agrees",
    "gcd": "trial_of_dtypes",
    "ge.Scalar": "compares_number",
    "glu_backward": "trial_if_strided",
    "gt.Scalar": "compares_number",
    "_has_compatible_shallow_copy_type": "torch_npus",
    "heaviside": "trial_if_strided",
    "huber_loss_backward": "trial_if_strided",
    "index": "trial_if_strided mask_indices",
    "index_put": "adds_in_order",
    "index_put_": "adds_in_order",
    "_index_put_impl_": "adds_in_order",
    "is_pinned": "torch_npus",
    "is_set_to": "torch_npus",
    "kaiser_window": "trial",
    "kaiser_window.beta": "names_devices",
    "kaiser_window.default": "names_devices",
    "kaiser_window.periodic": "names_devices",
    "lcm": "trial_of_dtypes",
    "ldexp.Tensor": "trial_if_strided",
    "le.Scalar": "compares_number",
    "lift": "torch_npus",
    "lift_fresh": "torch_npus",
    "_linalg_*": "matrices",
    "linalg_*": "matrices",
    "linalg_eig": "trial",
    "_linalg_svd": "trial",
    "log_sigmoid_forward": "trial_if_strided",
    "_log_softmax": "out_form_agrees",
    "_log_softmax_backward_data": "trial_if_strided",
    "logaddexp": "trial_if_strided",
    "logical_and": "trial_if_strided",
    "logical_or": "trial_if_strided",
    "logical_xor": "trial_if_strided",
    "logsumexp": "default_dtype",
    "lt.Scalar": "compares_number",
    "lu_*": "no_trial_of_dtypes",
    "lu_solve": "matrices",
    "max_unpool2d": "trial_if_strided alerts",
    "max_unpool3d": "alerts",
    "mm": "out_form_agrees",
    "mode.values": "names_devices trial",
    "mse_loss_backward": "trial_if_strided",
    "multi_margin_loss": "trial",
    "multilabel_margin_loss_forward": "trial",
    "native_batch_norm": "trial",
    "native_batch_norm_backward": "trial_if_strided",
    "_native_batch_norm_legit": "trial",
    "_native_batch_norm_legit_no_training": "trial",
    "native_channel_shuffle": "trial_if_strided",
    "native_dropout_backward": "trial_if_strided",
    "native_group_norm": "trial_if_strided",
    "native_group_norm_backward": "trial_if_strided",
    "native_layer_norm": "trial",
    "native_layer_norm_backward": "trial_if_strided",
    "_native_multi_head_attention": "trial",
    "ne.Scalar": "compares_number",
    "normal.Tensor_Tensor": "trial_if_strided",
    "ormqr": "matrices",
    "_pack_padded_sequence": "takes_cpu_tensors",
    "_pin_memory": "torch_npus",
    "pixel_shuffle": "trial_if_strided",
    "pow.Scalar": "trial_if_strided",
    "pow.Tensor_Scalar": "trial_if_bool",
    "put": "alerts",
    "put_": "alerts",
    "quantize_per_channel": "trial",
    "quantize_per_tensor": "trial",
    "quantize_per_tensor_dynamic": "trial",
    "record_stream": "torch_npus",
    "reflection_pad2d": "trial_if_strided",
    "reflection_pad2d_backward": "trial_if_strided",
    "reflection_pad3d": "trial_if_strided",
    "reflection_pad3d_backward": "trial_if_strided",
    "repeat_interleave": "output_size",
    "replication_pad2d": "trial_if_strided",
    "replication_pad2d_backward": "trial_if_strided",
    "replication_pad3d": "trial_if_strided",
    "replication_pad3d_backward": "trial_if_strided",
    "_reshape_alias": "torch_npus",
    "resize_": "torch_npus",
    "resize_as_": "torch_npus",
    "_resize_output_": "torch_npus",
    "roll": "trial_if_strided",
    "set_": "torch_npus",
    "smooth_l1_loss_backward": "trial_if_strided",
    "_softmax": "out_form_agrees",
    "special_xlog1py": "trial_if_strided",
    "triangular_solve": "matrices",
    "unfold": "torch_npus",
    "view": "torch_npus",
    "_weight_*": "no_trial_of_dtypes",
    "where": "condition",
    "xlogy.Tensor": "trial_if_strided",
    "zero_": "zeroes",
}


_BEGINNINGS = [(name[:-1], flags) for name, flags in OPERATORS.items() if name.endswith("*")]


def flags_of(name: str) -> set[str]:
    """Returns the flags of an operator such as "aten::index" or "aten::mode.values"."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    rows = [OPERATORS.get(base, ""), OPERATORS.get(f"{base}.{overload or 'default'}", ""),
            *(flags for beginning, flags in _BEGINNINGS if base.startswith(beginning))]
    return {flag for row in rows for flag in row.split()}


def lines() -> str:
    """Returns the table as the extension reads it."""
    return "".join(f"{name} {flags}\n" for name, flags in OPERATORS.items())
