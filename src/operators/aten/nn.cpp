// SPDX-License-Identifier: Apache-2.0
// Layers of networks where one call of ATen does not do.

#include "src/operators/aten/nn.h"

#include <algorithm>
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

// Refuses a tensor without an element for each channel of the input.
void CheckChannels(const char* name, const at::Tensor& tensor, const at::Tensor& input) {
    TORCH_CHECK_VALUE(input.dim() >= 2, "input has ", input.dim(), " dims; expected at least 2");
    TORCH_CHECK_VALUE(!tensor.defined() || tensor.numel() == input.size(1), name, " has ",
                      tensor.numel(), " elements; expected ", input.size(1),
                      ", the channels of input");
}

// Returns one number for each of two dims.
std::vector<int64_t> TwoOf(at::IntArrayRef numbers, int64_t missing) {
    return numbers.empty()       ? std::vector<int64_t>{missing, missing}
           : numbers.size() == 1 ? std::vector<int64_t>{numbers[0], numbers[0]}
                                 : numbers.vec();
}

// Refuses pads below 0, by which ATen would cut.
void CheckPads(const char* name, at::IntArrayRef pads) {
    for (const int64_t pad : pads) {
        TORCH_CHECK_VALUE(pad >= 0, name, " has ", pad, "; expected pads of at least 0");
    }
}

// Returns the pads in front of two dims and then behind them.
std::vector<int64_t> FourPads(at::IntArrayRef pads, const char* name) {
    std::vector<int64_t> four = pads.size() == 4 ? pads.vec() : TwoOf(pads, 0);
    if (four.size() == 2) {
        four.insert(four.end(), {four[0], four[1]});
    }
    TORCH_CHECK_VALUE(four.size() == 4, name, " has ", four.size(), " numbers; expected 2 or 4");
    CheckPads(name, four);
    return four;
}

at::Tensor Padded(const at::Tensor& self, const std::vector<int64_t>& pads,
                  const at::Scalar& value) {
    return pads == std::vector<int64_t>{0, 0, 0, 0}
               ? self
               : at::constant_pad_nd(self, {pads[1], pads[3], pads[0], pads[2]}, value);
}

// The windows of a pooling whose input was padded before.
struct Windows {
    std::vector<int64_t> kernel;
    std::vector<int64_t> strides;
    std::vector<int64_t> pads;
    std::vector<int64_t> dilations;
    bool isCeil;

    // Refuses a window that lies in the pads alone, and so has no mean.
    void CheckEach(const at::Tensor& self, const at::Tensor& result) const {
        for (size_t axis = 0; axis < 2; ++axis) {
            const int64_t dim = static_cast<int64_t>(axis) - 2;
            const int64_t last = (result.size(dim) - 1) * strides[axis] - pads[axis];
            TORCH_CHECK_VALUE(pads[axis] < kernel[axis] && last < self.size(dim), "paddings has ",
                              pads[axis], " in front and ", pads[axis + 2],
                              " behind; expected an element of self in each window of ",
                              kernel[axis]);
        }
    }

    // Returns the result without last windows that are not full and begin behind self: ATen takes
    // the pads for elements of it.
    at::Tensor In(const at::Tensor& self, at::Tensor result) const {
        for (size_t axis = 0; isCeil && axis < 2; ++axis) {
            const int64_t dim = static_cast<int64_t>(axis) - 2;
            const int64_t front = self.size(dim) + pads[axis];
            const int64_t room = front + pads[axis + 2] - dilations[axis] * (kernel[axis] - 1) - 1;
            const int64_t last = result.size(dim) - 1;
            if (last > room / strides[axis] && last * strides[axis] >= front) {
                result = result.narrow(dim, 0, last);
            }
        }
        return result;
    }
};

// Returns what no element is less than.
at::Scalar LowestOf(at::ScalarType type) {
    switch (type) {
        case at::kChar:
            return std::numeric_limits<int8_t>::min();
        case at::kShort:
            return std::numeric_limits<int16_t>::min();
        case at::kInt:
            return std::numeric_limits<int32_t>::min();
        case at::kLong:
            return std::numeric_limits<int64_t>::min();
        case at::kByte:
            return 0;
        default:
            return -std::numeric_limits<double>::infinity();
    }
}

void CheckLengths(const char* name, at::IntArrayRef lengths, int64_t batch, int64_t most) {
    TORCH_CHECK_VALUE(static_cast<int64_t>(lengths.size()) == batch, name, " has ", lengths.size(),
                      " numbers; expected ", batch);
    for (const int64_t length : lengths) {
        TORCH_CHECK_VALUE(length >= 0 && length <= most, name, " has ", length, "; expected 0 to ",
                          most);
    }
}

}  // namespace

at::Tensor PlacesIn(const at::Tensor& self, int64_t axes, const at::Tensor& indices,
                    const at::Tensor& gradOutput) {
    TORCH_CHECK_VALUE(self.dim() == axes + 1 || self.dim() == axes + 2, "self has ", self.dim(),
                      " dims; expected ", axes + 1, " or ", axes + 2);
    const auto before = static_cast<size_t>(self.dim() - axes);
    TORCH_CHECK_VALUE(gradOutput.dim() == self.dim() &&
                          gradOutput.sizes().slice(0, before) == self.sizes().slice(0, before),
                      "gradOutput has shape ", gradOutput.sizes(), "; expected ", self.dim(),
                      " dims, the first of them as those of self, ", self.sizes());
    TORCH_CHECK_VALUE(indices.sizes() == gradOutput.sizes(), "indices has shape ", indices.sizes(),
                      "; expected that of gradOutput, ", gradOutput.sizes());
    return IndexBelow(indices, c10::multiply_integers(self.sizes().slice(before)), "indices");
}

at::Tensor MaxPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     int64_t autoPad, at::IntArrayRef pads, at::IntArrayRef dilations,
                     bool ceilMode) {
    TORCH_CHECK_VALUE(autoPad == 0, "autoPad is ", autoPad, "; expected 0: pads has the pads");
    const Windows windows{TwoOf(kernel, 1), TwoOf(strides, 1), FourPads(pads, "pads"),
                          TwoOf(dilations, 1), ceilMode};
    const at::Tensor wide = Padded(self, windows.pads, LowestOf(self.scalar_type()));
    return windows.In(
        self, at::max_pool2d(wide, kernel, windows.strides, {0, 0}, windows.dilations, ceilMode));
}

at::Tensor AvgPool2d(const at::Tensor& self, at::IntArrayRef kernel, at::IntArrayRef strides,
                     at::IntArrayRef pads, bool ceilMode, bool countIncludePad,
                     std::optional<int64_t> divisor) {
    if (pads.size() != 4) {
        return at::avg_pool2d(self, kernel, strides, pads, ceilMode, countIncludePad, divisor);
    }
    const Windows windows{TwoOf(kernel, 1),
                          strides.empty() ? TwoOf(kernel, 1) : TwoOf(strides, 1),
                          FourPads(pads, "paddings"),
                          {1, 1},
                          ceilMode};
    TORCH_CHECK_VALUE(!kernel.empty(), "kernelSize has no numbers; expected 1 or 2");
    const auto isHalf = [&](size_t axis) {
        return pads[axis] == pads[axis + 2] && 2 * pads[axis] <= windows.kernel[axis];
    };
    if (isHalf(0) && isHalf(1)) {
        return at::avg_pool2d(self, kernel, strides, pads.slice(0, 2), ceilMode, countIncludePad,
                              divisor);
    }
    const auto pool = [&](const at::Tensor& from, std::optional<int64_t> by) {
        return windows.In(self, at::avg_pool2d(Padded(from, windows.pads, 0), windows.kernel,
                                               windows.strides, {0, 0}, ceilMode, true, by));
    };
    if (countIncludePad || divisor.has_value()) {
        return pool(self, divisor);
    }
    const at::Tensor sums = pool(self, 1);
    windows.CheckEach(self, sums);
    return at::div(sums, pool(at::ones_like(self), 1));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNorm(
    const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
    const at::Tensor& runningMean, const at::Tensor& runningVar, bool training, double momentum,
    double eps) {
    CheckChannels("weight", weight, input);
    CheckChannels("bias", bias, input);
    CheckChannels("runningMean", runningMean, input);
    CheckChannels("runningVar", runningVar, input);
    TORCH_CHECK_VALUE(training || (runningMean.defined() && runningVar.defined()),
                      "runningMean or runningVar is null; expected a tensor unless training");
    // ATen writes the running statistics in place; outputs are written only at the end.
    const at::Tensor mean = runningMean.defined() ? runningMean.clone() : runningMean;
    const at::Tensor var = runningVar.defined() ? runningVar.clone() : runningVar;
    auto [output, saveMean, saveInvstd] =
        at::native_batch_norm(input, weight, bias, mean, var, training, momentum, eps);
    return training
               ? std::make_tuple(output, saveMean, saveInvstd, mean, var)
               : std::make_tuple(output, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> BatchNormBackward(
    const at::Tensor& gradOut, const at::Tensor& input, const at::Tensor& weight,
    const at::Tensor& runningMean, const at::Tensor& runningVar, const at::Tensor& saveMean,
    const at::Tensor& saveInvstd, bool training, double eps, std::array<bool, 3> mask) {
    CheckChannels("weight", weight, input);
    CheckChannels("runningMean", runningMean, input);
    CheckChannels("runningVar", runningVar, input);
    if (training) {  // else they are not used, and callers pass the empty ones of the forward pass
        CheckChannels("saveMean", saveMean, input);
        CheckChannels("saveInvstd", saveInvstd, input);
    }
    const at::Tensor& mean = training ? saveMean : runningMean;
    const at::Tensor& spread = training ? saveInvstd : runningVar;
    TORCH_CHECK_VALUE(mean.defined() && spread.defined(), training ? "saveMean" : "runningMean",
                      " or ", training ? "saveInvstd" : "runningVar",
                      " is null; expected a tensor");
    TORCH_CHECK_VALUE(gradOut.sizes() == input.sizes(), "gradOut has shape ", gradOut.sizes(),
                      "; expected that of input, ", input.sizes());
    return at::native_batch_norm_backward(gradOut, input, weight, runningMean, runningVar, saveMean,
                                          saveInvstd, training, eps, mask);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> LayerNormBackward(
    const at::Tensor& gradOut, const at::Tensor& input, at::IntArrayRef normalizedShape,
    const at::Tensor& mean, const at::Tensor& rstd, const at::Tensor& weight,
    const at::Tensor& bias, std::array<bool, 3> mask) {
    const auto axes = normalizedShape.size();
    TORCH_CHECK_VALUE(axes > 0 && axes <= input.sizes().size() &&
                          input.sizes().slice(input.sizes().size() - axes) == normalizedShape,
                      "normalizedShape is ", normalizedShape, "; expected the last dims of input, ",
                      input.sizes());
    const int64_t rows =
        c10::multiply_integers(input.sizes().slice(0, input.sizes().size() - axes));
    TORCH_CHECK_VALUE(mean.numel() == rows && rstd.numel() == rows, "mean and rstd have ",
                      mean.numel(), " and ", rstd.numel(), " elements; expected ", rows);
    TORCH_CHECK_VALUE(gradOut.sizes() == input.sizes(), "gradOut has shape ", gradOut.sizes(),
                      "; expected that of input, ", input.sizes());
    TORCH_CHECK_VALUE(!weight.defined() || weight.sizes() == normalizedShape, "weight has shape ",
                      weight.sizes(), "; expected ", normalizedShape);
    return at::native_layer_norm_backward(gradOut.contiguous(), input, normalizedShape,
                                          mean.contiguous(), rstd.contiguous(), weight, bias, mask);
}

at::Tensor Labels(const at::Tensor& targets, const at::Tensor& logProbs,
                  at::IntArrayRef inputLengths, at::IntArrayRef targetLengths) {
    TORCH_CHECK_VALUE(logProbs.dim() == 3, "logProbs has ", logProbs.dim(), " dims; expected 3");
    CheckLengths("inputLengths", inputLengths, logProbs.size(1), logProbs.size(0));
    CheckLengths("targetLengths", targetLengths, logProbs.size(1), targets.numel());
    return IndexBelow(targets, logProbs.size(2), "targets");
}

at::Tensor CtcLossBackward(const at::Tensor& gradOut, const at::Tensor& logProbs,
                           const at::Tensor& targets, at::IntArrayRef inputLengths,
                           at::IntArrayRef targetLengths, const at::Tensor& negLogLikelihood,
                           const at::Tensor& logAlpha, int64_t blank, bool zeroInfinity) {
    const at::Tensor labels = Labels(targets, logProbs, inputLengths, targetLengths);
    const int64_t batch = logProbs.size(1);
    TORCH_CHECK_VALUE(gradOut.numel() == batch && negLogLikelihood.numel() == batch,
                      "gradOut and negLogLikelihood have ", gradOut.numel(), " and ",
                      negLogLikelihood.numel(), " elements; expected ", batch);
    int64_t longest = 0;
    int64_t all = 0;
    for (const int64_t length : targetLengths) {
        longest = std::max(longest, length);
        all += length;
    }
    TORCH_CHECK_VALUE(targets.dim() == 2 ? targets.size(0) == batch && targets.size(1) >= longest
                                         : targets.dim() == 1 && targets.numel() == all,
                      "targets has shape ", targets.sizes(),
                      "; expected that of the forward call, for targetLengths ", targetLengths);
    TORCH_CHECK_VALUE(logAlpha.dim() == 3 && logAlpha.size(0) == batch &&
                          logAlpha.size(1) == logProbs.size(0) &&
                          logAlpha.size(2) == 2 * longest + 1,
                      "logAlpha has shape ", logAlpha.sizes(), "; expected [", batch, ", ",
                      logProbs.size(0), ", ", 2 * longest + 1, "]");
    TORCH_CHECK_INDEX(blank >= 0 && blank < logProbs.size(2), "blank is ", blank,
                      "; expected 0 to ", logProbs.size(2) - 1);
    return at::_ctc_loss_backward(gradOut, logProbs, labels, inputLengths, targetLengths,
                                  negLogLikelihood, logAlpha, blank, zeroInfinity);
}

at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                    at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                    bool transposed, at::OptionalIntArrayRef outputPadding, int64_t groups) {
    const size_t axes = stride.size();
    if (!transposed && axes > 0 && padding.size() == 2 * axes) {
        const at::IntArrayRef fronts = padding.slice(0, axes);
        const at::IntArrayRef backs = padding.slice(axes);
        CheckConvolution(input, weight, stride, fronts, dilation, groups);
        CheckPads("padding", padding);
        if (fronts == backs) {
            return Convolve(input, weight, bias, stride, fronts, dilation, false, {}, groups);
        }
        std::vector<int64_t> pads;  // from the last dim on
        for (size_t axis = axes; axis-- > 0;) {
            pads.insert(pads.end(), {fronts[axis], backs[axis]});
        }
        return Convolve(at::constant_pad_nd(input, pads), weight, bias, stride,
                        std::vector<int64_t>(axes, 0), dilation, false, {}, groups);
    }
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
