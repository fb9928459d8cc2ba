// SPDX-License-Identifier: Apache-2.0
// The shape of a result, from which a tensor can be made.

#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "views.h"

namespace advstep_torch {

/// The properties from which a new tensor is made.
struct TensorShape {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    caffe2::TypeMeta dtype;
    bool defined = false;
    bool dense = false;  // without gaps and overlaps
    bool conj = false;
    bool neg = false;

    static TensorShape Of(const at::Tensor& like) {
        CheckPlain(like);
        if (!like.defined()) {
            return {};
        }
        return {like.sizes().vec(),
                like.strides().vec(),
                like.dtype(),
                true,
                like.is_non_overlapping_and_dense(),
                like.is_conj(),
                like.is_neg()};
    }

    at::Tensor New(c10::Device device) const {
        at::Tensor made =
            at::empty_strided(sizes, strides, at::TensorOptions().dtype(dtype).device(device));
        if (conj) {
            made._set_conj(true);
        }
        if (neg) {
            made._set_neg(true);
        }
        return made;
    }
};

/// One result: a tensor, or a list of them.
struct ResultShapes {
    std::vector<TensorShape> tensors;
    bool list = false;
};

}  // namespace advstep_torch
