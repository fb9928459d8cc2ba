// SPDX-License-Identifier: Apache-2.0
// To whole numbers of few bits, and back.

#include "src/operators/aten/quant.h"

#include "src/operators/aten/groups.h"

namespace advstep_operators {
namespace {

// Returns factors of one axis of x: one element, as many as the axis has, or a shape that
// broadcasts.
at::Tensor Along(const char* name, const at::Tensor& factors, const at::Tensor& x, int64_t axis) {
    if (!factors.defined()) {
        return {};
    }
    const int64_t dim = DimOf("axis", axis, x);
    const at::Tensor wide = Wide(factors);
    if (wide.numel() == 1) {
        return wide.reshape({});
    }
    TORCH_CHECK_VALUE(wide.numel() == x.size(dim) &&
                          (wide.dim() == 1 || (wide.dim() == x.dim() && wide.size(dim) > 1)),
                      name, " has shape ", wide.sizes(),
                      "; expected one element, or one for each of "
                      "the ",
                      x.size(dim), " along dim ", dim);
    std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
    shape[static_cast<size_t>(dim)] = x.size(dim);
    return wide.reshape(shape);
}

// Returns x times smooth scales: [columns], or [groups, columns] for groups of rows.
at::Tensor Smoothed(const Named& named, const at::Tensor& x) {
    const at::Tensor smooth = named.Tensor("smoothScales");
    const at::Tensor index = named.Tensor("groupIndex");
    const at::Tensor wide = Wide(x);
    if (!index.defined()) {
        if (smooth.defined()) {
            CheckShape("smoothScalesOptional", smooth, {x.size(-1)});
        }
        return smooth.defined() ? at::mul(wide, Wide(smooth)) : wide;
    }
    TORCH_CHECK_VALUE(smooth.defined(),
                      "smoothScalesOptional is null; expected one, as there is "
                      "groupIndexOptional");
    CheckShape("smoothScalesOptional", smooth, {index.numel(), x.size(-1)});
    const at::Tensor matrix = wide.reshape({-1, x.size(-1)});
    const at::Tensor rows =
        RowsOfGroups("groupIndexOptional", index, kEnds, matrix.size(0), matrix);
    TORCH_CHECK_INDEX(rows.is_meta() || at::ge(rows, 0).all().item<bool>(),
                      "groupIndexOptional ends before the last row; expected ", matrix.size(0),
                      " as its last number");
    return at::mul(matrix, at::index_select(Wide(smooth), 0, rows)).reshape(x.sizes());
}

}  // namespace

void DynamicQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    TORCH_CHECK_VALUE(x.dim() >= 1, "x has no dims; expected rows");
    const std::string mode = named.Text("quantMode", "pertoken");
    TORCH_CHECK_VALUE(mode == "pertoken" || mode == "pertensor", "quantMode is ", mode,
                      "; expected pertoken or pertensor");
    TORCH_CHECK_VALUE(named.Real("dstTypeMax") == 0, "dstTypeMax is ", named.Real("dstTypeMax"),
                      "; expected 0, as it is for HIFLOAT8 alone");
    const Steps steps = StepsOf(named, "yOut", named.Int("dstType", -1));
    const bool ranged = named.Has("offsetOut") && !named.Flag("isSymmetrical");
    at::Tensor wide = Smoothed(named, x);
    if (mode == "pertensor") {
        wide = wide.reshape({1, -1});
    }
    const Steps numbers{steps.least, steps.most, false};
    Dynamic result = ranged ? RoundedByRange(wide, numbers) : RoundedByRow(wide, numbers);
    result.numbers = result.numbers.reshape(x.sizes());
    if (steps.inWords) {
        result.numbers = Rounded(Wide(result.numbers), steps);
    }
    named.Put({{"yOut", result.numbers}, {"scaleOut", result.scale}, {"offsetOut", result.offset}});
}

void AscendQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const int64_t axis = named.Int("axis", -1);
    at::Tensor scale = Along("scale", named.Tensor("scale"), x, axis);
    const at::Tensor offset = Along("offset", named.Tensor("offset"), x, axis);
    scale = named.Flag("sqrtMode") ? at::mul(scale, scale) : scale;
    at::Tensor y = at::mul(Wide(x), scale);
    y = offset.defined() ? at::add(y, offset) : y;
    named.Put({{"y", Rounded(y, StepsOf(named, "y", named.Int("dstType")),
                             named.Text("roundMode", "round"))}});
}

void AscendAntiQuant(Call& call) {
    Named named(call);
    const at::Tensor given = named.Tensor("x");
    const at::Tensor x = Unpacked(given, given.scalar_type() == at::kInt);
    TORCH_CHECK_VALUE(x.scalar_type() == at::kChar, "x has dtype ", x.scalar_type(),
                      "; expected INT8, INT4, or INT32 with eight INT4 in each");
    const AdvStepTensorView* const y = named.View("y");
    const int64_t type = named.Int("dstType");
    TORCH_CHECK_VALUE(type == y->dataType, "dstType is ", type,
                      "; expected the number of the dtype of y, ",
                      static_cast<int64_t>(y->dataType));
    at::Tensor scale = Along("scale", named.Tensor("scale"), x, -1);
    const at::Tensor offset = Along("offset", named.Tensor("offset"), x, -1);
    scale = named.Flag("sqrtMode") ? at::mul(scale, scale) : scale;
    const at::Tensor wide = offset.defined() ? at::add(Wide(x), offset) : Wide(x);
    named.Put({{"y", at::mul(wide, scale)}});
}

void Quantize(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const int64_t axis = named.Int("axis");
    const at::Tensor scales = Along("scales", named.Tensor("scales"), x, axis);
    const at::Tensor zeros = Along("zeroPoints", named.Tensor("zeroPoints"), x, axis);
    const AdvStepTensorView* const out = named.View("out");
    const int64_t type = named.Int("dtype");
    TORCH_CHECK_VALUE(type == out->dataType, "dtype is ", type, "; expected that of out, ",
                      static_cast<int64_t>(out->dataType));
    at::Tensor y = at::div(Wide(x), scales);
    y = zeros.defined() ? at::add(y, zeros) : y;
    if (out->dataType == ACL_INT32) {
        const at::Tensor whole = at::round(y).to(at::kDouble);
        constexpr double kLeast = -2147483648.0;
        constexpr double kMost = 2147483647.0;
        named.Put(
            {{"out",
              at::clamp(at::nan_to_num(whole, 0.0, kMost, kLeast), kLeast, kMost).to(at::kInt)}});
        return;
    }
    named.Put({{"out", Rounded(y, StepsOf(named, "out"))}});
}

void GroupQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const at::Tensor scale = named.Tensor("scale");
    const at::Tensor index = named.Tensor("groupIndex");
    CheckShape("x", x, {-1, -1});
    CheckShape("scale", scale, {index.numel(), x.size(1)});
    const at::Tensor rows = RowsOfGroups("groupIndex", index, kEnds, x.size(0), x);
    TORCH_CHECK_INDEX(rows.is_meta() || at::ge(rows, 0).all().item<bool>(),
                      "groupIndex ends before the last row; expected ", x.size(0),
                      " as its last number");
    at::Tensor y = at::mul(Wide(x), at::index_select(Wide(scale), 0, rows));
    if (const at::Tensor offset = named.Tensor("offset"); offset.defined()) {
        TORCH_CHECK_VALUE(offset.numel() == 1, "offsetOptional has shape ", offset.sizes(),
                          "; expected one element");
        y = at::add(y, Wide(offset).reshape({}));
    }
    named.Put({{"y", Rounded(y, StepsOf(named, "y", named.Int("dstType")))}});
}

void DequantBias(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    CheckShape("x", x, {-1, -1});
    CheckShape("weightScale", named.Tensor("weightScale"), {x.size(1)});
    const AdvStepTensorView* const out = named.View("out");
    const int64_t type = named.Int("outputDtype");
    TORCH_CHECK_VALUE(type == out->dataType, "outputDtype is ", type, "; expected that of out, ",
                      static_cast<int64_t>(out->dataType));
    const at::Tensor bias = named.Tensor("bias");
    if (bias.defined()) {
        CheckShape("biasOptional", bias, {x.size(1)});
    }
    const bool addsWhole = bias.defined() && at::isIntegralType(bias.scalar_type(), false);
    at::Tensor y = Wide(addsWhole ? at::add(x, bias) : x);
    y = at::mul(y, Wide(named.Tensor("weightScale")));
    if (const at::Tensor rows = named.Tensor("activateScale"); rows.defined()) {
        CheckShape("activateScaleOptional", rows, {x.size(0)});
        y = at::mul(y, Wide(rows).unsqueeze(1));
    }
    named.Put({{"out", bias.defined() && !addsWhole ? at::add(y, Wide(bias)) : y}});
}

namespace {

constexpr int64_t kKeptBits = 0xFFFFE000;  // of a float32: its mantissa has 10 bits left
constexpr int64_t kMark = int64_t{1} << 46;
constexpr int kOffsetAt = 37;
constexpr int64_t kOffsetBits = 0x1FF;

}  // namespace

void TransQuantParam(Call& call) {
    Named named(call);
    const at::Tensor scale = Wide(named.Tensor("scale")).contiguous();
    const int64_t mode = named.Int("roundMode");
    CheckNumber("roundMode", mode, 0, 1);
    at::Tensor bits = at::bitwise_and(scale.view(at::kInt).to(at::kLong), 0xFFFFFFFF);
    if (mode == 1) {  // half to even of the bits that are left out
        const at::Tensor odd = at::bitwise_and(at::bitwise_right_shift(bits, at::Scalar(13)), 1);
        bits = at::add(at::add(bits, 0xFFF), odd);
    }
    at::Tensor packed = at::bitwise_or(at::bitwise_and(bits, kKeptBits), kMark);
    if (const at::Tensor offset = named.Tensor("offset"); offset.defined()) {
        TORCH_CHECK_VALUE(
            offset.numel() == 1 || scale.numel() == 1 || offset.sizes() == scale.sizes(),
            "offset has shape ", offset.sizes(), "; expected that of scale, ", scale.sizes());
        const at::Tensor whole = at::clamp(at::round(Wide(offset)), -256, 255).to(at::kLong);
        const at::Tensor nine = at::bitwise_and(whole, kOffsetBits);
        packed = at::bitwise_or(packed, at::bitwise_left_shift(nine, at::Scalar(kOffsetAt)));
    }
    named.Put({{"out", packed}});
}

at::Tensor ScaleOf(const at::Tensor& scale) {
    const at::ScalarType type = scale.scalar_type();
    if (type != at::kLong && type != at::kUInt64) {
        return Wide(scale);
    }
    const at::Tensor bits = at::bitwise_and(scale.to(at::kLong), kKeptBits);
    // The bits of a float32, which int32 takes as they are.
    return at::where(at::ge(bits, int64_t{1} << 31), at::sub(bits, int64_t{1} << 32), bits)
        .to(at::kInt)
        .view(at::kFloat);
}

at::Tensor OffsetOf(const at::Tensor& scale) {
    const at::ScalarType type = scale.scalar_type();
    if (type != at::kLong && type != at::kUInt64) {
        return {};
    }
    const at::Tensor nine = at::bitwise_and(
        at::bitwise_right_shift(scale.to(at::kLong), at::Scalar(kOffsetAt)), kOffsetBits);
    return at::where(at::ge(nine, 256), at::sub(nine, 512), nine).to(at::kFloat);
}

at::Tensor Unpacked(const at::Tensor& tensor, bool inWords) {
    if (!inWords) {
        return tensor;
    }
    TORCH_CHECK_VALUE(tensor.dim() > 0, "a tensor of INT32 with INT4 in it has no dims");
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(tensor.device());
    const at::Tensor places = at::mul(at::arange(8, options), 4);
    const at::Tensor halves =
        at::bitwise_and(at::bitwise_right_shift(tensor.to(at::kLong).unsqueeze(-1), places), 15);
    return at::where(at::ge(halves, 8), at::sub(halves, 16), halves).to(at::kChar).flatten(-2);
}

void ConvertWeightToHalves(Call& call) {
    Named named(call);
    const at::Tensor weight = named.Tensor("weight");
    TORCH_CHECK_VALUE(weight.scalar_type() == at::kInt, "weight has dtype ", weight.scalar_type(),
                      "; expected INT32");
    named.Put({{"weightInt4Pack", Rounded(Wide(weight), StepsOf(named, "weightInt4Pack"))}});
}

}  // namespace advstep_operators
