// SPDX-License-Identifier: Apache-2.0
// Rounding to whole numbers of few bits.

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

// Returns eight numbers of four bits in each word.
at::Tensor InWords(const at::Tensor& numbers) {
    TORCH_CHECK_VALUE(numbers.dim() > 0 && numbers.size(-1) % 8 == 0,
                      "the last dim of the result has ", numbers.dim() > 0 ? numbers.size(-1) : 1,
                      " numbers; expected a multiple of 8, as an INT32 has eight INT4");
    std::vector<int64_t> shape = numbers.sizes().vec();
    shape.back() /= 8;
    shape.push_back(8);
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(numbers.device());
    const at::Tensor halves = at::bitwise_and(numbers.to(at::kLong), 15).reshape(shape);
    const at::Tensor places = at::mul(at::arange(8, options), 4);
    return at::sum(at::bitwise_left_shift(halves, places), -1).to(at::kInt);
}

}  // namespace

Steps StepsOf(const Named& named, const char* output, int64_t dstType) {
    const AdvStepTensorView* const view = named.View(output);
    if (view == nullptr) {
        return {};
    }
    TORCH_CHECK_VALUE(dstType == -1 || dstType == view->dataType, "dstType is ", dstType,
                      "; expected the number of the dtype of ", output, ", ",
                      static_cast<int64_t>(view->dataType));
    switch (view->dataType) {
        case ACL_INT8:
            return {-128, 127, false};
        case ACL_UINT8:
            return {0, 255, false};
        case ACL_INT4:
            return {-8, 7, false};
        case ACL_INT32:
            return {-8, 7, true};
        default:
            TORCH_CHECK_TYPE(false, output, " has dtype ", advstepDataTypeName(view->dataType),
                             "; expected INT8, INT4, or INT32 with eight INT4 in each");
    }
}

at::Tensor Rounded(const at::Tensor& wide, const Steps& steps, const std::string& mode) {
    at::Tensor whole = wide;
    if (mode == "rint" || mode == "round") {
        whole = at::round(wide);
    } else if (mode == "floor") {
        whole = at::floor(wide);
    } else if (mode == "ceil") {
        whole = at::ceil(wide);
    } else if (mode == "trunc") {
        whole = at::trunc(wide);
    } else {
        TORCH_CHECK_VALUE(false, "roundMode is ", mode,
                          "; expected round or rint (half to even), floor, ceil or trunc");
    }
    const at::Tensor numbers =
        at::clamp(at::nan_to_num(whole, 0.0, 1e9, -1e9), steps.least, steps.most)
            .to(steps.most > 127 ? at::kShort : at::kChar);
    return steps.inWords ? InWords(numbers) : numbers;
}

Dynamic RoundedByRow(const at::Tensor& wide, const Steps& steps) {
    TORCH_CHECK_VALUE(wide.dim() > 0 && wide.size(-1) > 0, "x has shape ", wide.sizes(),
                      "; expected rows of at least one element");
    const at::Tensor scale = at::div(at::amax(at::abs(wide), -1, true), steps.most);
    return {Rounded(at::div(wide, scale), steps), scale.squeeze(-1), {}};
}

Dynamic RoundedByRange(const at::Tensor& wide, const Steps& steps) {
    TORCH_CHECK_VALUE(wide.dim() > 0 && wide.size(-1) > 0, "x has shape ", wide.sizes(),
                      "; expected rows of at least one element");
    const auto [least, most] = at::aminmax(wide, -1, true);
    const at::Tensor scale = at::div(at::sub(most, least), steps.most - steps.least);
    const at::Tensor offset = at::nan_to_num(
        at::sub(at::full_like(scale, steps.most), at::div(most, scale)), 0.0, 0.0, 0.0);
    return {Rounded(at::add(at::div(wide, scale), offset), steps), scale.squeeze(-1),
            offset.squeeze(-1)};
}

at::Tensor Wide(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(at::kFloat) : tensor;
}

}  // namespace advstep_operators
