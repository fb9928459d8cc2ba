// SPDX-License-Identifier: Apache-2.0
// Layers of networks where one call of ATen does not do.

#include "src/operators/aten/nn.h"

#include <limits>

namespace advstep_operators {
namespace {

// Checks the sizes of a convolution that is not transposed, which ATen does only with data.
void CheckConvolution(const at::Tensor& input, const at::Tensor& weight, at::IntArrayRef stride,
                      at::IntArrayRef padding, at::IntArrayRef dilation, int64_t groups) {
    const auto axes = static_cast<size_t>(weight.dim() - 2);
    TORCH_CHECK_VALUE(
        weight.dim() >= 3 && (input.dim() == weight.dim() || input.dim() + 1 == weight.dim()),
        "input has ", input.dim(), " dims and weight ", weight.dim(),
        "; expected N, C and 1 to 3 axes for both");
    TORCH_CHECK_VALUE(stride.size() == axes && padding.size() == axes && dilation.size() == axes,
                      "stride, padding and dilation have ", stride.size(), ", ", padding.size(),
                      " and ", dilation.size(), " numbers; expected ", axes, " each");
    TORCH_CHECK_VALUE(groups > 0, "groups is ", groups, "; expected at least 1");
}

}  // namespace

at::Tensor MaxPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     at::IntArrayRef pads, at::IntArrayRef dilations, bool ceilMode) {
    const auto all = [](at::IntArrayRef numbers, int64_t missing) {
        return numbers.empty() ? std::vector<int64_t>{missing, missing} : numbers.vec();
    };
    std::vector<int64_t> four = all(pads, 0);
    if (four.size() == 2) {
        four.insert(four.end(), {four[0], four[1]});
    }
    TORCH_CHECK_VALUE(four.size() == 4, "pads has ", four.size(), " numbers; expected 2 or 4");
    const double lowest = -std::numeric_limits<double>::infinity();
    const bool padded = four != std::vector<int64_t>{0, 0, 0, 0};
    const at::Tensor wide =
        padded ? at::constant_pad_nd(self, {four[1], four[3], four[0], four[2]}, lowest) : self;
    return at::max_pool2d(wide, kernel, all(strides, 1), {0, 0}, all(dilations, 1), ceilMode);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNorm(
    const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
    const at::Tensor& runningMean, const at::Tensor& runningVar, bool training, double momentum,
    double eps) {
    // ATen writes the running statistics in place; outputs are written only at the end.
    const at::Tensor mean = runningMean.defined() ? runningMean.clone() : runningMean;
    const at::Tensor var = runningVar.defined() ? runningVar.clone() : runningVar;
    auto [output, saveMean, saveInvstd] =
        at::native_batch_norm(input, weight, bias, mean, var, training, momentum, eps);
    return training
               ? std::make_tuple(output, saveMean, saveInvstd, mean, var)
               : std::make_tuple(output, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor());
}

at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                    bool transposed, at::OptionalIntArrayRef outputPadding, int64_t groups) {
    CheckConvolution(input, weight, stride, padding, dilation, groups);
    const at::ScalarType type = at::result_type(input, weight);
    const std::vector<int64_t> none(stride.size(), 0);
    const at::IntArrayRef more =
        transposed && outputPadding.has_value() ? *outputPadding : at::IntArrayRef(none);
    return at::convolution(input.to(type), weight.to(type), bias.defined() ? bias.to(type) : bias,
                           stride, padding, dilation, transposed, more, groups);
}

std::tuple<at::Tensor, at::Tensor> CrossEntropyOfProbabilities(const at::Tensor& features,
                                                               const at::Tensor& labels) {
    const at::Tensor logs = at::log_softmax(features, -1);
    return {at::neg(at::sum(at::mul(labels, logs), -1)), at::sub(at::exp(logs), labels)};
}

}  // namespace advstep_operators
