// SPDX-License-Identifier: Apache-2.0
// What lines of layers of networks need.

#pragma once

#include "src/operators/aten/call.h"
#include "src/operators/aten/helpers.h"

namespace advstep_operators {

/// Returns a divisor of a pooling; 0 is none.
inline std::optional<int64_t> Divisor(int64_t divisor) {
    return divisor != 0 ? std::optional<int64_t>(divisor) : std::nullopt;
}

/// Returns a scale of an upsampling; 0 and less are none: the sizes say it.
inline std::optional<double> Scale(double scale) {
    return scale > 0 ? std::optional<double>(scale) : std::nullopt;
}

/// Returns the greatest elements of windows over the last two dims. `pads` are those of both dims,
/// or of their beginnings and then of their ends.
at::Tensor MaxPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     at::IntArrayRef pads, at::IntArrayRef dilations, bool ceilMode);

/// Returns the normalised input, the mean and 1 / deviation of the batch (undefined without
/// training), and the running statistics (undefined where the call has none).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNorm(
    const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
    const at::Tensor& runningMean, const at::Tensor& runningVar, bool training, double momentum,
    double eps);

/// Returns a convolution in the common dtype of input and weight.
at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                    bool transposed, at::OptionalIntArrayRef outputPadding, int64_t groups);

/// Returns the cross entropy of each row with probabilities as labels, and its gradient.
std::tuple<at::Tensor, at::Tensor> CrossEntropyOfProbabilities(const at::Tensor& features,
                                                               const at::Tensor& labels);

}  // namespace advstep_operators
