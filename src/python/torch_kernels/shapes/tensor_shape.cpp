// SPDX-License-Identifier: Apache-2.0
// The shapes of tensors, and new "npu" tensors of them.

#include "torch_kernels/shapes/tensor_shape.h"

#include "torch_kernels/device/views.h"

namespace advstep_torch {

TensorShape TensorShape::Of(const at::Tensor& like) {
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

at::Tensor TensorShape::New(c10::Device device) const {
    return NewTensor(sizes, strides, dtype, conj, neg, device);
}

ResultShapes ResultShapes::Of(const c10::IValue& result) {
    ResultShapes shapes;
    shapes.list = !result.isTensor();
    if (!shapes.list) {
        shapes.tensors.push_back(TensorShape::Of(result.toTensor()));
        return shapes;
    }
    for (const at::Tensor& tensor : result.toTensorVector()) {
        shapes.tensors.push_back(TensorShape::Of(tensor));
    }
    return shapes;
}

}  // namespace advstep_torch
