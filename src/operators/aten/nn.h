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

/// Returns a scale of an upsampling; 0 and less are none: the sizes say it. With others than those
/// of images, ATen's places do not fit their integers.
inline std::optional<double> Scale(double scale) {
    constexpr double kMost = 1e4;
    TORCH_CHECK_VALUE(!(scale > 0) || (scale >= 1 / kMost && scale <= kMost), "the scale is ",
                      scale, "; expected ", 1 / kMost, " to ", kMost, ", or 0: as the sizes say");
    return scale > 0 ? std::optional<double>(scale) : std::nullopt;
}

/// Returns a mode of a sampling, of which there are three.
inline int64_t Mode(int64_t mode, const char* name) {
    TORCH_CHECK_VALUE(mode >= 0 && mode <= 2, name, " is ", mode, "; expected 0, 1 or 2");
    return mode;
}

/// Returns the places that a pooling over the last `axes` dims of self has taken, each of which
/// must be one of a plane: ATen writes there without a check.
at::Tensor PlacesIn(const at::Tensor& self, int64_t axes, const at::Tensor& indices,
                    const at::Tensor& gradOutput);

/// Returns the greatest elements of windows over the last two dims. `pads` are those of both dims,
/// or of their beginnings and then of their ends.
at::Tensor MaxPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     int64_t autoPad, at::IntArrayRef pads, at::IntArrayRef dilations,
                     bool ceilMode);

/// Returns the means of windows over the last two dims, with pads as those of MaxPool2d.
at::Tensor AvgPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     at::IntArrayRef pads, bool ceilMode, bool countIncludePad,
                     std::optional<int64_t> divisor);

/// Returns the normalised input, the mean and 1 / deviation of the batch (undefined without
/// training), and the running statistics (undefined where the call has none).
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNorm(
    const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
    const at::Tensor& runningMean, const at::Tensor& runningVar, bool training, double momentum,
    double eps);

/// As ATen's, whose kernels do not check the statistics.
std::tuple<at::Tensor, at::Tensor, at::Tensor> BatchNormBackward(
    const at::Tensor& gradOut, const at::Tensor& input, const at::Tensor& weight,
    const at::Tensor& runningMean, const at::Tensor& runningVar, const at::Tensor& saveMean,
    const at::Tensor& saveInvstd, bool training, double eps, std::array<bool, 3> mask);
std::tuple<at::Tensor, at::Tensor, at::Tensor> LayerNormBackward(
    const at::Tensor& gradOut, const at::Tensor& input, at::IntArrayRef normalizedShape,
    const at::Tensor& mean, const at::Tensor& rstd, const at::Tensor& weight,
    const at::Tensor& bias, std::array<bool, 3> mask);

/// A batch norm in parts: the statistics of one process, those of all of them, with running ones
/// (undefined where the call has none), and the two ways through it. Statistics have an element for
/// each channel, those of several processes a row for each, and `counts` the elements of each.
std::tuple<at::Tensor, at::Tensor> BatchNormStats(const at::Tensor& input, double eps);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNormOfParts(
    const at::Tensor& mean, const at::Tensor& invstd, const at::Tensor& runningMean,
    const at::Tensor& runningVar, double momentum, double eps, const at::Tensor& counts);
at::Tensor BatchNormElemt(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                          const at::Tensor& mean, const at::Tensor& invstd);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNormReduceBackward(
    const at::Tensor& gradOut, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, bool inputG, bool weightG, bool biasG);
at::Tensor BatchNormElemtBackward(const at::Tensor& gradOut, const at::Tensor& input,
                                  const at::Tensor& mean, const at::Tensor& invstd,
                                  const at::Tensor& weight, const at::Tensor& sumDy,
                                  const at::Tensor& sumDyXmu, const at::Tensor& counter);

/// Returns the gradient of each element's loss, for that of the reduced loss: 0 none, 1 mean, 2
/// sum.
at::Tensor GradientOfMean(const at::Tensor& gradOutput, const at::Tensor& self, int64_t reduction);

/// Returns the gradient of a divergence of Kullback and Leibler.
at::Tensor KlGradient(const at::Tensor& gradOutput, const at::Tensor& self,
                      const at::Tensor& target, int64_t reduction, bool logTarget);

/// Returns the gradient of a cross entropy of logits.
at::Tensor LogitsGradient(const at::Tensor& gradOutput, const at::Tensor& self,
                          const at::Tensor& target, const at::Tensor& weight,
                          const at::Tensor& posWeight, int64_t reduction);

/// Returns the labels of a CTC loss, once they and the lengths are known to be within logProbs.
at::Tensor Labels(const at::Tensor& targets, const at::Tensor& logProbs,
                  at::IntArrayRef inputLengths, at::IntArrayRef targetLengths);
at::Tensor CtcLossBackward(const at::Tensor& gradOut, const at::Tensor& logProbs,
                           const at::Tensor& targets, at::IntArrayRef inputLengths,
                           at::IntArrayRef targetLengths, const at::Tensor& negLogLikelihood,
                           const at::Tensor& logAlpha, int64_t blank, bool zeroInfinity);

/// Returns a convolution in the common dtype of input and weight. `padding` has a number for each
/// axis, or if it is not transposed, those in front of the axes and then those behind.
at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                    bool transposed, at::OptionalIntArrayRef outputPadding, int64_t groups);

/// Returns the cross entropy of each row with probabilities as labels, and its gradient.
std::tuple<at::Tensor, at::Tensor> CrossEntropyOfProbabilities(const at::Tensor& features,
                                                               const at::Tensor& labels);

}  // namespace advstep_operators
