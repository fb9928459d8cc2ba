// SPDX-License-Identifier: Apache-2.0
// To microscaling formats and back: specification 1.0 of the Open Compute Project, as
// docs/internals/decisions/0071-microscaling.md has it.

#include "src/operators/aten/mx.h"

#include <limits>

#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

constexpr int64_t kBias = 127;  // of E8M0, whose byte 0 is 2^-127 and 254 is 2^127

// The elements that blocks become.
struct Element {
    at::ScalarType type;
    int64_t exponent;  // of its largest number
    double most;       // which this is
};

Element ElementOf(const Named& named, const char* output) {
    const AdvStepTensorView* const view = named.View(output);
    const int64_t type = named.Int("dstType", view->dataType);
    TORCH_CHECK_VALUE(type == view->dataType, "dstType is ", type,
                      "; expected the number of the dtype of ", output, ", ",
                      static_cast<int64_t>(view->dataType));
    if (view->dataType == ACL_FLOAT8_E4M3FN) {
        return {at::kFloat8_e4m3fn, 8, 448};
    }
    TORCH_CHECK_TYPE(view->dataType == ACL_FLOAT8_E5M2, output, " has dtype ",
                     advstepDataTypeName(view->dataType),
                     "; expected FLOAT8_E4M3FN or FLOAT8_E5M2");
    return {at::kFloat8_e5m2, 15, 57344};
}

int64_t BlocksOf(int64_t size, int64_t block) { return (size + block - 1) / block; }

// Returns x with its axis at the end, cut into blocks, of which the last is filled up with 0.
at::Tensor InBlocks(const at::Tensor& x, int64_t axis, int64_t block) {
    const at::Tensor last = at::movedim(x, axis, -1);
    const int64_t size = last.size(-1);
    std::vector<int64_t> shape = last.sizes().vec();
    shape.back() = BlocksOf(size, block);
    shape.push_back(block);
    return at::constant_pad_nd(last, {0, shape[shape.size() - 2] * block - size}).reshape(shape);
}

at::Tensor OutOfBlocks(const at::Tensor& blocks, int64_t axis, int64_t size) {
    return at::movedim(at::narrow(blocks.flatten(-2), -1, 0, size), -1, axis);
}

// Returns 2^exponent in float64.
at::Tensor PowerOf(const at::Tensor& exponent) { return at::exp2(exponent.to(at::kDouble)); }

// Returns the exponent of each block's factor, at least -127 and at most 127; blocks of zeros have
// the least.
at::Tensor ExponentsOf(const Named& named, const at::Tensor& blocks, const Element& element) {
    at::Tensor most = at::amax(at::abs(blocks), -1);
    const int64_t way = named.Int("scaleAlg");
    CheckNumber("scaleAlg", way, 0, 1);
    const double bound = named.Real("maxLowBound");
    TORCH_CHECK_VALUE(bound == 0 || (way == 1 && bound > 0), "maxLowBound is ", bound,
                      "; expected 0, or with scaleAlg 1 a number above it");
    if (way == 1) {
        most = at::div(at::clamp_min(most, bound), element.most);
    }
    const auto [mantissa, exponent] = at::frexp(most);  // mantissa is at least 0.5 and below 1
    at::Tensor power = at::sub(exponent, 1 + (way == 0 ? element.exponent : 0));
    if (way == 1) {
        power = at::add(power, at::gt(mantissa, 0.5));  // rounded up
    }
    power = at::clamp(power, -kBias, kBias);
    return at::where(at::eq(most, 0), at::full_like(power, -kBias), power);
}

}  // namespace

at::Tensor FactorsOf(const char* name, const at::Tensor& scale, int64_t axis, int64_t size,
                     int64_t block) {
    TORCH_CHECK_TYPE(scale.scalar_type() == at::kFloat8_e8m0fnu, name, " has dtype ",
                     scale.scalar_type(), "; expected FLOAT8_E8M0");
    const int64_t pairs = (BlocksOf(size, block) + 1) / 2;
    TORCH_CHECK_VALUE(scale.dim() >= 2 && scale.size(-1) == 2 && scale.size(axis) == pairs, name,
                      " has shape ", scale.sizes(), "; expected ", pairs, " pairs along dim ", axis,
                      ", and 2 at the end");
    const at::Tensor bytes = scale.view(at::kByte).to(at::kDouble);
    const at::Tensor factors = at::masked_fill(PowerOf(at::sub(bytes, kBias)), at::eq(bytes, 255),
                                               std::numeric_limits<double>::quiet_NaN());
    // [..., pairs, ..., 2] has a dim more than x.
    const at::Tensor each = at::movedim(factors, -1, axis + 1).flatten(axis, axis + 1);
    return at::narrow(at::repeat_interleave(each, block, axis), axis, 0, size);
}

void DynamicMxQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    TORCH_CHECK_VALUE(x.is_floating_point() && x.dim() >= 1, "x has dtype ", x.scalar_type(),
                      " and ", x.dim(), " dims; expected FLOAT, FLOAT16 or BF16, and at least one");
    const int64_t axis = DimOf("axis", named.Int("axis"), x);
    const int64_t block = named.Int("blocksize");
    TORCH_CHECK_VALUE(block > 0 && block <= 1024 && block % 32 == 0, "blocksize is ", block,
                      "; expected a multiple of 32, at most 1024");
    const std::string mode = named.Text("roundMode", "rint");
    TORCH_CHECK_VALUE(mode == "rint", "roundModeOptional is ", mode, "; expected rint");
    TORCH_CHECK_VALUE(named.Real("dstTypeMax") == 0, "dstTypeMax is ", named.Real("dstTypeMax"),
                      "; expected 0, as yOut is FLOAT8");
    const Element element = ElementOf(named, "yOut");
    const at::Tensor blocks = InBlocks(Wide(x), axis, block);
    const at::Tensor isFinite = at::all(at::isfinite(blocks), -1);
    const at::Tensor power = ExponentsOf(named, blocks, element);
    at::Tensor scaled = at::div(blocks.to(at::kDouble), PowerOf(power).unsqueeze(-1));
    scaled = at::clamp(scaled, -element.most, element.most);
    scaled = at::masked_fill(scaled, at::logical_not(isFinite).unsqueeze(-1),
                             std::numeric_limits<double>::quiet_NaN());
    const at::Tensor bytes =
        at::where(isFinite, at::add(power, kBias), at::full_like(power, 255)).to(at::kByte);
    const int64_t count = bytes.size(-1);
    std::vector<int64_t> shape = bytes.sizes().vec();
    shape.back() = (count + 1) / 2;
    shape.push_back(2);
    const at::Tensor pairs = at::constant_pad_nd(bytes, {0, count % 2}).reshape(shape);
    named.Put(
        {{"yOut", OutOfBlocks(scaled.to(at::kFloat), axis, x.size(axis)).to(element.type)},
         {"mxscaleOut", at::movedim(pairs, -2, axis).contiguous().view(at::kFloat8_e8m0fnu)}});
}

void AntiMxQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    TORCH_CHECK_TYPE(x.scalar_type() == at::kFloat8_e4m3fn || x.scalar_type() == at::kFloat8_e5m2,
                     "x has dtype ", x.scalar_type(), "; expected FLOAT8_E4M3FN or FLOAT8_E5M2");
    const int64_t axis = DimOf("axis", named.Int("axis"), x);
    const at::Tensor scale = named.Tensor("mxscale");
    TORCH_CHECK_VALUE(scale.dim() == x.dim() + 1, "mxscale has ", scale.dim(), " dims; expected ",
                      x.dim() + 1);
    const at::Tensor factors = FactorsOf("mxscale", scale, axis, x.size(axis), 32);
    named.Put({{"y", at::mul(x.to(at::kDouble), factors)}});
}

}  // namespace advstep_operators
