// SPDX-License-Identifier: Apache-2.0
// Which operators need a trial on "cpu" to know their results, because their kernels for "meta"
// give others.

#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <set>
#include <string>

#include "views.h"

namespace advstep_torch {

/// When the kernels for "cpu" and "meta" disagree on what an operator computes beside the results,
/// or on their dtypes and strides.
enum class Disagree {
    kNever,
    kAlways,
    kIfStrided,  // an argument has other strides than a new contiguous tensor
    kIfBool
};

/// The tests run each operator with work pending, in several layouts, which finds the names.
inline Disagree DisagreeOf(const std::string& name) {
    static const std::set<std::string> always{"aten::native_layer_norm",
                                              "aten::native_batch_norm",
                                              "aten::_native_batch_norm_legit",
                                              "aten::_native_batch_norm_legit_no_training",
                                              "aten::_batch_norm_with_update",
                                              "aten::_embedding_bag",
                                              "aten::_embedding_bag_forward_only",
                                              "aten::quantize_per_tensor",
                                              "aten::quantize_per_tensor_dynamic",
                                              "aten::quantize_per_channel",
                                              "aten::_native_multi_head_attention",
                                              "aten::_fft_r2c",
                                              "aten::kaiser_window",
                                              "aten::mode.values",
                                              "aten::multi_margin_loss",
                                              "aten::multilabel_margin_loss_forward",
                                              "aten::linalg_eig",
                                              "aten::_linalg_svd"};
    static const std::set<std::string> strided{"aten::convolution",
                                               "aten::convolution_backward",
                                               "aten::native_batch_norm_backward",
                                               "aten::native_group_norm",
                                               "aten::native_group_norm_backward",
                                               "aten::native_layer_norm_backward",
                                               "aten::native_dropout_backward",
                                               "aten::reflection_pad2d",
                                               "aten::reflection_pad2d_backward",
                                               "aten::reflection_pad3d",
                                               "aten::reflection_pad3d_backward",
                                               "aten::replication_pad2d",
                                               "aten::replication_pad2d_backward",
                                               "aten::replication_pad3d",
                                               "aten::replication_pad3d_backward",
                                               "aten::max_unpool2d",
                                               "aten::pixel_shuffle",
                                               "aten::channel_shuffle",
                                               "aten::native_channel_shuffle",
                                               "aten::roll",
                                               "aten::index",
                                               "aten::_fft_c2r",
                                               "aten::angle",
                                               "aten::copysign.Tensor",
                                               "aten::div.Tensor_mode",
                                               "aten::floor_divide",
                                               "aten::heaviside",
                                               "aten::ldexp.Tensor",
                                               "aten::logaddexp",
                                               "aten::logical_and",
                                               "aten::logical_or",
                                               "aten::logical_xor",
                                               "aten::normal.Tensor_Tensor",
                                               "aten::pow.Scalar",
                                               "aten::special_xlog1py",
                                               "aten::xlogy.Tensor",
                                               "aten::log_sigmoid_forward",
                                               "aten::_log_softmax_backward_data",
                                               "aten::glu_backward",
                                               "aten::binary_cross_entropy",
                                               "aten::huber_loss_backward",
                                               "aten::mse_loss_backward",
                                               "aten::smooth_l1_loss_backward"};
    if (always.count(name) != 0) {
        return Disagree::kAlways;
    }
    if (strided.count(name) != 0) {
        return Disagree::kIfStrided;
    }
    static const std::set<std::string> ofBool{
        "aten::pow.Tensor_Scalar", "aten::_foreach_pow.Scalar", "aten::_foreach_pow.ScalarList"};
    return ofBool.count(name) != 0 ? Disagree::kIfBool : Disagree::kNever;
}

/// Returns whether an operator computes factors or solutions of matrices, by LAPACK.
inline bool IsOfMatrices(const std::string& name) {
    static const std::set<std::string> names{"aten::ormqr", "aten::lu_solve",
                                             "aten::triangular_solve", "aten::cholesky_inverse"};
    return names.count(name) != 0 || name.rfind("aten::linalg_", 0) == 0 ||
           name.rfind("aten::_linalg_", 0) == 0;
}

/// Returns whether the kernels for "cpu" and "meta" disagree about a call with these arguments.
/// `pointwise`: the operator works element by element. "meta" computes those of 16 bits in float32,
/// and forgets the strides of an expanded argument then.
inline bool NeedsTrial(Disagree when, bool pointwise, c10::ArrayRef<c10::IValue> arguments) {
    if (when == Disagree::kAlways || (when == Disagree::kNever && !pointwise)) {
        return when == Disagree::kAlways;
    }
    int strided = 0;
    bool ofBool = false;
    bool expanded = false;
    const auto look = [&](const c10::IValue& value) {
        if (!value.isTensor() || !IsNpu(value.toTensor())) {
            return;
        }
        const at::Tensor& tensor = value.toTensor();
        ofBool = ofBool || tensor.scalar_type() == at::kBool;
        // Not is_contiguous: the strides of dimensions of size 1 decide on the memory format.
        if (tensor.strides() != c10::IntArrayRef(c10::contiguous_strides(tensor.sizes()))) {
            ++strided;
            expanded = expanded || (c10::isReducedFloatingType(tensor.scalar_type()) &&
                                    !tensor.is_non_overlapping_and_dense());
        }
    };
    for (const c10::IValue& value : arguments) {
        if (value.isList()) {
            std::for_each(value.toListRef().begin(), value.toListRef().end(), look);
        } else {
            look(value);
        }
    }
    return (when == Disagree::kIfStrided && strided != 0) ||
           (when == Disagree::kIfBool && ofBool) || (pointwise && expanded && strided > 1);
}

}  // namespace advstep_torch
