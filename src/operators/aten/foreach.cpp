// SPDX-License-Identifier: Apache-2.0
// Operators on lists where one call of ATen does not do.

#include "src/operators/aten/foreach.h"

namespace advstep_operators {

at::Scalar Number(const at::Tensor& tensor) {
    TORCH_CHECK_VALUE(tensor.numel() == 1, "the scalar has ", tensor.numel(),
                      " elements; expected 1");
    return tensor.is_meta() ? at::Scalar(1) : tensor.item();
}

std::vector<at::Scalar> Numbers(const at::Tensor& tensor, size_t count) {
    TORCH_CHECK_VALUE(static_cast<size_t>(tensor.numel()) == count, "the scalars have ",
                      tensor.numel(), " elements; expected one for each of the ", count,
                      " tensors");
    std::vector<at::Scalar> numbers;
    for (size_t place = 0; place < count; ++place) {
        numbers.push_back(Number(tensor.reshape({-1})[static_cast<int64_t>(place)]));
    }
    return numbers;
}

std::vector<at::Tensor> ZeroesLike(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> zeroes;
    for (const at::Tensor& tensor : tensors) {
        zeroes.push_back(at::zeros_like(tensor));
    }
    return zeroes;
}

std::tuple<std::vector<at::Tensor>, at::Tensor> Unscaled(const std::vector<at::Tensor>& gradients,
                                                         const at::Tensor& foundInf,
                                                         const at::Tensor& invScale) {
    std::vector<at::Tensor> unscaled;
    at::Tensor found = foundInf;
    for (const at::Tensor& gradient : gradients) {
        const at::Tensor infinite = at::any(at::logical_not(at::isfinite(gradient)));
        found = at::maximum(found, infinite.to(foundInf.scalar_type()).reshape(foundInf.sizes()));
        unscaled.push_back(at::mul(gradient, invScale.reshape({})));
    }
    return {unscaled, found};
}

}  // namespace advstep_operators
