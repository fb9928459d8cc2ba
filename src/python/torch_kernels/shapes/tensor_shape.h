// SPDX-License-Identifier: Apache-2.0
// The shape of a result, from which a tensor can be made.

#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

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

    static TensorShape Of(const at::Tensor& like);

    at::Tensor New(c10::Device device) const;
};

/// One result: a tensor, or a list of them.
struct ResultShapes {
    std::vector<TensorShape> tensors;
    bool list = false;

    static ResultShapes Of(const c10::IValue& result);
};

}  // namespace advstep_torch
