// SPDX-License-Identifier: Apache-2.0
// Batch norms whose batch lies in several processes; gradients of losses.

#include "src/operators/aten/nn.h"

namespace advstep_operators {
namespace {

// Refuses statistics that have not an element for each channel of the input, and returns them in a
// shape that broadcasts to it, in float64.
at::Tensor OfChannels(const char* name, const at::Tensor& statistics, const at::Tensor& input) {
    TORCH_CHECK_VALUE(input.dim() >= 2, "input has ", input.dim(), " dims; expected at least 2");
    TORCH_CHECK_VALUE(statistics.numel() == input.size(1), name, " has ", statistics.numel(),
                      " elements; expected ", input.size(1), ", the channels of input");
    std::vector<int64_t> shape(static_cast<size_t>(input.dim()), 1);
    shape[1] = input.size(1);
    return statistics.to(at::kDouble).reshape(shape);
}

// Returns the dims of an input beside its channels.
std::vector<int64_t> OtherDims(const at::Tensor& input) {
    TORCH_CHECK_VALUE(input.dim() >= 2, "input has ", input.dim(), " dims; expected at least 2");
    std::vector<int64_t> dims = {0};
    for (int64_t dim = 2; dim < input.dim(); ++dim) {
        dims.push_back(dim);
    }
    return dims;
}

// Returns a running statistic after a step.
at::Tensor Moved(const at::Tensor& running, const at::Tensor& now, double momentum) {
    return running.defined() ? at::add(at::mul(running.to(at::kDouble), 1 - momentum),
                                       at::mul(now, momentum).reshape(running.sizes()))
                             : at::Tensor();
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> BatchNormStats(const at::Tensor& input, double eps) {
    const std::vector<int64_t> dims = OtherDims(input);
    const auto [variance, mean] =
        at::var_mean(input.to(at::kDouble), dims, std::optional<at::Scalar>(0), false);
    return {mean, at::rsqrt(at::add(variance, eps))};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNormOfParts(
    const at::Tensor& mean, const at::Tensor& invstd, const at::Tensor& runningMean,
    const at::Tensor& runningVar, double momentum, double eps, const at::Tensor& counts) {
    TORCH_CHECK_VALUE(
        mean.dim() == 2 && invstd.sizes() == mean.sizes() && counts.numel() == mean.size(0),
        "mean, invstd and counts have shapes ", mean.sizes(), ", ", invstd.sizes(), " and ",
        counts.sizes(), "; expected a row of channels for each count");
    for (const at::Tensor& running : {runningMean, runningVar}) {
        TORCH_CHECK_VALUE(!running.defined() || running.numel() == mean.size(1),
                          "a running statistic has ", running.defined() ? running.numel() : 0,
                          " elements; expected ", mean.size(1), ", the channels");
    }
    const at::Tensor number = counts.to(at::kDouble).reshape({-1, 1});
    const at::Tensor total = at::sum(number);
    const at::Tensor means = mean.to(at::kDouble);
    const at::Tensor all = at::div(at::sum(at::mul(means, number), 0), total);
    const at::Tensor within = at::sub(at::reciprocal(at::square(invstd.to(at::kDouble))), eps);
    const at::Tensor apart = at::square(at::sub(means, all));
    const at::Tensor squares = at::sum(at::mul(at::add(within, apart), number), 0);
    return {all, at::rsqrt(at::add(at::div(squares, total), eps)),
            Moved(runningMean, all, momentum),
            Moved(runningVar, at::div(squares, at::sub(total, 1)), momentum)};
}

at::Tensor BatchNormElemt(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                          const at::Tensor& mean, const at::Tensor& invstd) {
    at::Tensor result = at::mul(at::sub(input.to(at::kDouble), OfChannels("mean", mean, input)),
                                OfChannels("invstd", invstd, input));
    result = weight.defined() ? at::mul(result, OfChannels("weight", weight, input)) : result;
    return bias.defined() ? at::add(result, OfChannels("bias", bias, input)) : result;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> BatchNormReduceBackward(
    const at::Tensor& gradOut, const at::Tensor& input, const at::Tensor& mean,
    const at::Tensor& invstd, bool inputG, bool weightG, bool biasG) {
    TORCH_CHECK_VALUE(gradOut.sizes() == input.sizes(), "gradOut has shape ", gradOut.sizes(),
                      "; expected that of input, ", input.sizes());
    const std::vector<int64_t> dims = OtherDims(input);
    const at::Tensor gradient = gradOut.to(at::kDouble);
    const at::Tensor apart = at::sub(input.to(at::kDouble), OfChannels("mean", mean, input));
    const at::Tensor sums = at::sum(gradient, dims);
    const at::Tensor products = at::sum(at::mul(gradient, apart), dims);
    TORCH_CHECK_VALUE(invstd.numel() == input.size(1), "invstd has ", invstd.numel(),
                      " elements; expected ", input.size(1), ", the channels of input");
    const at::Tensor none;
    return {inputG ? sums : none, inputG ? products : none,
            weightG ? at::mul(products, invstd.to(at::kDouble).reshape({-1})) : none,
            biasG ? sums : none};
}

at::Tensor BatchNormElemtBackward(const at::Tensor& gradOut, const at::Tensor& input,
                                  const at::Tensor& mean, const at::Tensor& invstd,
                                  const at::Tensor& weight, const at::Tensor& sumDy,
                                  const at::Tensor& sumDyXmu, const at::Tensor& counter) {
    TORCH_CHECK_VALUE(gradOut.sizes() == input.sizes(), "gradOut has shape ", gradOut.sizes(),
                      "; expected that of input, ", input.sizes());
    const at::Tensor total = at::sum(counter.to(at::kDouble));
    const at::Tensor factor = OfChannels("invstd", invstd, input);
    const at::Tensor apart = at::sub(input.to(at::kDouble), OfChannels("mean", mean, input));
    const at::Tensor along = at::div(OfChannels("sumDyXmu", sumDyXmu, input), total);
    at::Tensor result =
        at::sub(gradOut.to(at::kDouble), at::div(OfChannels("sumDy", sumDy, input), total));
    result = at::sub(result, at::mul(at::mul(apart, at::square(factor)), along));
    result = at::mul(result, factor);
    return weight.defined() ? at::mul(result, OfChannels("weight", weight, input)) : result;
}

at::Tensor GradientOfMean(const at::Tensor& gradOutput, const at::Tensor& self, int64_t reduction) {
    TORCH_CHECK_VALUE(reduction >= 0 && reduction <= 2, "reduction is ", reduction,
                      "; expected 0, 1 or 2");
    return reduction == 1 ? at::div(gradOutput, self.numel()) : gradOutput;
}

at::Tensor KlGradient(const at::Tensor& gradOutput, const at::Tensor& self,
                      const at::Tensor& target, int64_t reduction, bool logTarget) {
    const at::Tensor wide = target.to(at::kDouble);
    return at::mul(GradientOfMean(gradOutput.to(at::kDouble), self, reduction),
                   at::neg(logTarget ? at::exp(wide) : wide));
}

at::Tensor LogitsGradient(const at::Tensor& gradOutput, const at::Tensor& self,
                          const at::Tensor& target, const at::Tensor& weight,
                          const at::Tensor& posWeight, int64_t reduction) {
    const at::Tensor chance = at::sigmoid(self.to(at::kDouble));
    at::Tensor slope = at::sub(chance, target);
    if (posWeight.defined()) {
        const at::Tensor positive = at::mul(posWeight.to(at::kDouble), target);
        slope = at::sub(at::mul(at::sub(at::add(positive, 1), target), chance), positive);
    }
    slope = weight.defined() ? at::mul(slope, weight) : slope;
    return at::mul(slope, GradientOfMean(gradOutput.to(at::kDouble), self, reduction));
}

}  // namespace advstep_operators
