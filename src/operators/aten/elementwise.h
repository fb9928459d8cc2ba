// SPDX-License-Identifier: Apache-2.0
// What lines of elementwise operators need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Refuses divisions of integers by 0, and of the least one by -1: the processor traps them.
void CheckDivision(const at::Tensor& self, const at::Tensor& other);
void CheckDivision(const at::Tensor& self, const at::Scalar& other);
void CheckDivision(const at::Scalar& self, const at::Tensor& other);

template <typename Self, typename Other>
at::Tensor Remainder(const Self& self, const Other& other) {
    CheckDivision(self, other);
    return at::remainder(self, other);
}

template <typename Self, typename Other>
at::Tensor Fmod(const Self& self, const Other& other) {
    CheckDivision(self, other);
    return at::fmod(self, other);
}

template <typename Self, typename Other>
at::Tensor FloorDivide(const Self& self, const Other& other) {
    CheckDivision(self, other);
    return at::floor_divide(self, other);
}

/// Returns self / other, as it is (mode 0), rounded towards zero (1), or down (2).
template <typename Self, typename Other>
at::Tensor DivideRounded(const Self& self, const Other& other, int64_t mode) {
    TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, "mode is ", mode, "; expected 0, 1 or 2");
    if (mode == 0) {
        return at::div(self, other);
    }
    CheckDivision(self, other);
    return at::div(self, other, mode == 1 ? "trunc" : "floor");
}

/// Returns a bool as a tensor of one element, on the device of `like`.
inline at::Tensor Scalar(bool value, const at::Tensor& like) {
    return at::full({1}, value, at::TensorOptions(at::kBool).device(like.device()));
}

/// Returns weights of channels, of dim 1 of `self`, in a shape that broadcasts to it.
inline at::Tensor Channels(const at::Tensor& weight, const at::Tensor& self) {
    if (weight.numel() == 1 || self.dim() < 2) {
        return weight.reshape(std::vector<int64_t>(static_cast<size_t>(self.dim()), 1));
    }
    std::vector<int64_t> shape(static_cast<size_t>(self.dim()), 1);
    shape[1] = weight.numel();
    return weight.reshape(shape);
}

/// Returns the sum of the tensors, which broadcast.
at::Tensor AddAll(const std::vector<at::Tensor>& tensors);

/// Fills a large output with zeros by the library, which takes no memory. Returns false for one
/// that is small or not dense: nothing has been written.
bool Cleared(const Call& call, int place);

/// Returns the gradients of self and of the weights: ATen's has one of a weight for each element.
std::tuple<at::Tensor, at::Tensor> PreluBackward(const at::Tensor& gradOutput,
                                                 const at::Tensor& self, const at::Tensor& weight);

}  // namespace advstep_operators
