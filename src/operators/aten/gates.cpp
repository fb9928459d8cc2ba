// SPDX-License-Identifier: Apache-2.0
// Gated activations and their gradients.

#include "src/operators/aten/gates.h"

#include <cmath>

#include "src/operators/aten/groups.h"
#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

struct Halves {
    at::Tensor first;
    at::Tensor second;
};

Halves HalvesOf(const char* name, const at::Tensor& x, int64_t dim) {
    const int64_t axis = DimOf("dim", dim, x);
    TORCH_CHECK_VALUE(x.size(axis) % 2 == 0, name, " has ", x.size(axis), " elements along dim ",
                      dim, "; expected an even number");
    const at::Tensor wide = Wide(x);
    const int64_t half = x.size(axis) / 2;
    return {wide.narrow(axis, 0, half), wide.narrow(axis, half, half)};
}

const char* ApproximationOf(int64_t approximate) {
    CheckNumber("approximate", approximate, 0, 1);
    return approximate == 1 ? "tanh" : "none";
}

// The arguments of a clipped gate. The dims from the one that is halved on are one: rows before it
// may belong to groups.
struct Clipped {
    at::Tensor first;  // before it is clipped, [rows, half]
    at::Tensor second;
    bool interleaved = false;
    at::Tensor counted;          // which rows belong to a group, or undefined
    std::vector<int64_t> shape;  // of the result
    double alpha = 0, limit = 0, bias = 0;
};

Clipped ClippedOf(const Named& named) {
    const at::Tensor x = named.Tensor("x");
    const int64_t axis = DimOf("dim", named.Int("dim"), x);
    TORCH_CHECK_VALUE(x.size(axis) % 2 == 0 && x.numel() > 0, "x has shape ", x.sizes(),
                      "; expected elements, an even number of them along dim ", axis);
    Clipped clipped;
    clipped.interleaved = named.Flag("interleaved");
    clipped.alpha = named.Real("alpha");
    clipped.limit = named.Real("limit");
    clipped.bias = named.Real("bias");
    CheckNumber("clampMode", named.Int("clampMode"), 0, 0);
    TORCH_CHECK_VALUE(clipped.limit > 0, "limit is ", clipped.limit, "; expected more than 0");
    clipped.shape = x.sizes().vec();
    clipped.shape[static_cast<size_t>(axis)] /= 2;
    int64_t rows = 1;
    for (int64_t dim = 0; dim < axis; ++dim) {
        rows *= x.size(dim);
    }
    const at::Tensor matrix = Wide(x).reshape({rows, -1});
    const int64_t half = matrix.size(1) / 2;
    clipped.first =
        clipped.interleaved ? at::slice(matrix, 1, 0, std::nullopt, 2) : matrix.narrow(1, 0, half);
    clipped.second = clipped.interleaved ? at::slice(matrix, 1, 1, std::nullopt, 2)
                                         : matrix.narrow(1, half, half);
    if (const at::Tensor index = named.Tensor("groupIndex"); index.defined()) {
        clipped.counted =
            RowsOfGroups("groupIndexOptional", index, kCounts, rows, matrix).ge(0).unsqueeze(1);
    }
    return clipped;
}

at::Tensor ClippedGate(const at::Tensor& first, const at::Tensor& second, double alpha,
                       double limit, double bias) {
    const at::Tensor gate = at::clamp_max(first, limit);
    const at::Tensor linear = at::clamp(second, -limit, limit);
    return at::mul(at::mul(gate, at::sigmoid(at::mul(gate, alpha))), at::add(linear, bias));
}

at::Tensor Counted(const Clipped& clipped, const at::Tensor& y) {
    return clipped.counted.defined() ? at::where(clipped.counted, y, at::zeros_like(y)) : y;
}

}  // namespace

at::Tensor SwiGlu(const at::Tensor& x, int64_t dim) {
    const Halves halves = HalvesOf("x", x, dim);
    return at::mul(at::silu(halves.first), halves.second);
}

at::Tensor SwiGluGrad(const at::Tensor& gradient, const at::Tensor& x, int64_t dim) {
    const Halves halves = HalvesOf("x", x, dim);
    CheckShape("yGrad", gradient, halves.first.sizes());
    const at::Tensor wide = Wide(gradient);
    const at::Tensor s = at::sigmoid(halves.first);
    const at::Tensor slope = at::mul(s, at::add(at::mul(halves.first, at::rsub(s, 1)), 1));
    return at::cat(
        {at::mul(at::mul(wide, halves.second), slope), at::mul(at::mul(wide, halves.first), s)},
        dim);
}

std::tuple<at::Tensor, at::Tensor> GeGlu(const at::Tensor& x, int64_t dim, int64_t approximate,
                                         bool activateLeft) {
    const Halves halves = HalvesOf("self", x, dim);
    const at::Tensor gelu =
        at::gelu(activateLeft ? halves.first : halves.second, ApproximationOf(approximate));
    return {at::mul(gelu, activateLeft ? halves.second : halves.first), gelu};
}

at::Tensor GeGluGrad(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& gelu,
                     int64_t dim, int64_t approximate, bool activateLeft) {
    const Halves halves = HalvesOf("self", x, dim);
    CheckShape("gradOutput", gradient, halves.first.sizes());
    CheckShape("gelu", gelu, halves.first.sizes());
    const at::Tensor wide = Wide(gradient);
    const at::Tensor& gate = activateLeft ? halves.first : halves.second;
    const at::Tensor& plain = activateLeft ? halves.second : halves.first;
    const at::Tensor intoPlain = at::mul(wide, Wide(gelu));
    const at::Tensor intoGate =
        at::gelu_backward(at::mul(wide, plain), gate.contiguous(), ApproximationOf(approximate));
    return activateLeft ? at::cat({intoGate, intoPlain}, dim) : at::cat({intoPlain, intoGate}, dim);
}

void GeluMul(Call& call) {
    Named named(call);
    const std::string mode = named.Text("approximate", "none");
    TORCH_CHECK_VALUE(mode == "none" || mode == "tanh", "approximateOptional is ", mode,
                      "; expected none or tanh");
    const Halves halves = HalvesOf("input", named.Tensor("input"), -1);
    named.Put({{"out", at::mul(at::gelu(halves.first, mode), halves.second)}});
}

at::Tensor SiluMul(const at::Tensor& x, const at::Tensor& y) {
    CheckShape("y", y, x.sizes());
    return at::mul(at::silu(Wide(x)), Wide(y));
}

void ClippedSwiglu(Call& call) {
    Named named(call);
    const Clipped clipped = ClippedOf(named);
    const at::Tensor y =
        ClippedGate(clipped.first, clipped.second, clipped.alpha, clipped.limit, clipped.bias);
    named.Put({{"out", Counted(clipped, y).reshape(clipped.shape)}});
}

void ClippedSwigluGrad(Call& call) {
    Named named(call);
    const Clipped clipped = ClippedOf(named);
    const at::Tensor gradient = named.Tensor("gradY");
    CheckShape("gradY", gradient, clipped.shape);
    const at::Tensor wide = Wide(gradient).reshape(clipped.first.sizes());
    const double limit = clipped.limit;
    const at::Tensor gate = at::clamp_max(clipped.first, limit);
    const at::Tensor linear = at::add(at::clamp(clipped.second, -limit, limit), clipped.bias);
    const at::Tensor s = at::sigmoid(at::mul(gate, clipped.alpha));
    const at::Tensor slope =
        at::mul(s, at::add(at::mul(at::mul(gate, at::rsub(s, 1)), clipped.alpha), 1));
    const at::Tensor zero = at::zeros_like(wide);
    const at::Tensor intoFirst =
        at::where(at::le(clipped.first, limit), at::mul(at::mul(wide, linear), slope), zero);
    const at::Tensor intoSecond =
        at::where(at::le(at::abs(clipped.second), limit), at::mul(at::mul(wide, gate), s), zero);
    const at::Tensor both = clipped.interleaved ? at::stack({intoFirst, intoSecond}, -1).flatten(1)
                                                : at::cat({intoFirst, intoSecond}, 1);
    named.Put({{"gradXOut", Counted(clipped, both).reshape(named.Tensor("x").sizes())}});
}

namespace {

// What rounds rows of a gate: their scales, and which rows there are.
struct Quantisation {
    at::Tensor scale;   // of each row, or undefined
    at::Tensor offset;  // of each row, or undefined
    at::Tensor rows;    // the group of each row, -1 behind the groups; or undefined
    bool isDynamic = false;
    std::string mode = "rint";
};

// Returns scales of groups, [groups, columns], [groups, 1], [groups] or [columns] without groups,
// as factors of the rows of a matrix.
at::Tensor OfGroups(const char* name, const at::Tensor& numbers, const at::Tensor& rows,
                    int64_t groups, int64_t columns) {
    if (!numbers.defined()) {
        return {};
    }
    const at::Tensor wide = Wide(numbers);
    if (!rows.defined()) {
        TORCH_CHECK_VALUE(wide.numel() == columns || wide.numel() == 1, name, " has shape ",
                          wide.sizes(), "; expected ", columns, " elements, or one");
        return wide.reshape({1, -1});
    }
    TORCH_CHECK_VALUE(wide.dim() <= 2 && wide.dim() > 0 && wide.size(0) == groups &&
                          (wide.dim() == 1 || wide.size(1) == columns || wide.size(1) == 1),
                      name, " has shape ", wide.sizes(), "; expected [", groups, ", ", columns,
                      "], a row for each group, or [", groups, "]");
    return at::index_select(wide.reshape({groups, -1}), 0, at::clamp_min(rows, 0));
}

void PutQuantised(Named& named, const at::Tensor& y, const Quantisation& quantisation,
                  const Steps& steps, const std::vector<int64_t>& shape) {
    const at::Tensor scaled =
        quantisation.scale.defined() && quantisation.isDynamic ? at::mul(y, quantisation.scale) : y;
    Dynamic result;
    if (quantisation.isDynamic) {
        const Dynamic rows = RoundedByRow(scaled, {steps.least, steps.most, false});
        result.numbers = rows.numbers;
        result.scale = rows.scale;
    } else {
        result.numbers =
            Rounded(quantisation.offset.defined() ? at::add(scaled, quantisation.offset) : scaled,
                    {steps.least, steps.most, false}, quantisation.mode);
    }
    if (quantisation.rows.defined()) {
        const at::Tensor counted = at::ge(quantisation.rows, 0);
        result.numbers = at::mul(result.numbers, counted.unsqueeze(1).to(result.numbers.dtype()));
        result.scale = result.scale.defined()
                           ? at::where(counted, result.scale, at::zeros_like(result.scale))
                           : result.scale;
    }
    result.numbers = result.numbers.reshape(shape);
    if (steps.inWords) {
        result.numbers = Rounded(Wide(result.numbers), steps);
    }
    named.Put({{"yOut", result.numbers}, {"scaleOut", result.scale}});
}

bool IsDynamic(const Named& named, const char* name, const char* missing) {
    const std::string mode = named.Text(name, missing);
    TORCH_CHECK_VALUE(mode == "static" || mode == "dynamic", name, " is ", mode,
                      "; expected static or dynamic");
    return mode == "dynamic";
}

}  // namespace

void SwiGluQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const Halves halves = HalvesOf("x", x, -1);
    const bool left = named.Flag("activateLeft");
    const at::Tensor y = left ? at::mul(at::silu(halves.first), halves.second)
                              : at::mul(at::silu(halves.second), halves.first);
    const std::vector<int64_t> shape = y.sizes().vec();
    const at::Tensor matrix = y.reshape({-1, y.size(-1)});
    const at::Tensor index = named.Tensor("groupIndex");
    CheckNumber("groupListType", named.Int("groupListType"), kEnds, kCounts);
    Quantisation quantisation;
    quantisation.isDynamic = IsDynamic(named, "quantModeOptional", "static");
    int64_t groups = 1;
    if (index.defined()) {
        groups = index.numel();
        quantisation.rows = RowsOfGroups("groupIndexOptional", index, named.Int("groupListType"),
                                         matrix.size(0), matrix);
    }
    quantisation.scale = OfGroups("smoothScalesOptional", named.Tensor("smoothScales"),
                                  quantisation.rows, groups, matrix.size(1));
    quantisation.offset = OfGroups("offsetsOptional", named.Tensor("offsets"), quantisation.rows,
                                   groups, matrix.size(1));
    at::Tensor scaled = matrix;
    if (!quantisation.isDynamic) {
        TORCH_CHECK_VALUE(quantisation.scale.defined(),
                          "smoothScalesOptional is null; expected one, as quantModeOptional is "
                          "static");
        scaled = at::mul(matrix, quantisation.scale);
    }
    PutQuantised(named, scaled, quantisation, StepsOf(named, "yOut", named.Int("dstType", -1)),
                 shape);
}

namespace {

// Returns x, [tokens, columns], times scales of columns and tokens.
at::Tensor Dequantised(const Named& named, const at::Tensor& x, const at::Tensor& rows,
                       int64_t groups) {
    const at::Tensor weight = named.Tensor("weightScale");
    const at::Tensor activation = named.Tensor("activationScale");
    const at::Tensor bias = named.Tensor("bias");
    TORCH_CHECK_VALUE(weight.defined() || !at::isIntegralType(x.scalar_type(), true),
                      "weightScaleOptional is null; expected one, as x is INT32");
    const bool addsWhole = bias.defined() && at::isIntegralType(bias.scalar_type(), false);
    const at::Tensor biases =
        bias.defined() ? OfGroups("biasOptional", bias, rows, groups, x.size(1)) : at::Tensor();
    at::Tensor wide = Wide(x);
    if (addsWhole) {
        wide = at::add(wide, biases);
    }
    if (weight.defined()) {
        wide = at::mul(wide, OfGroups("weightScaleOptional", weight, rows, groups, x.size(1)));
    }
    if (activation.defined()) {
        TORCH_CHECK_VALUE(activation.numel() == x.size(0), "activationScaleOptional has shape ",
                          activation.sizes(), "; expected one number for each of the ", x.size(0),
                          " rows");
        wide = at::mul(wide, Wide(activation).reshape({-1, 1}));
    }
    return bias.defined() && !addsWhole ? at::add(wide, biases) : wide;
}

at::Tensor GateOf(const Named& named, const at::Tensor& x) {
    const int64_t mode = named.Int("swigluMode");
    CheckNumber("swigluMode", mode, 0, 1);
    if (mode == 1) {
        TORCH_CHECK_VALUE(x.size(-1) % 2 == 0, "x has ", x.size(-1),
                          " columns; expected an even number");
        return ClippedGate(at::slice(x, -1, 0, std::nullopt, 2),
                           at::slice(x, -1, 1, std::nullopt, 2), named.Real("gluAlpha"),
                           named.Real("clampLimit"), named.Real("gluBias"));
    }
    const Halves halves = HalvesOf("x", x, -1);
    return named.Flag("activateLeft") ? at::mul(at::silu(halves.first), halves.second)
                                      : at::mul(at::silu(halves.second), halves.first);
}

}  // namespace

void DequantSwigluQuant(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const int64_t axis = named.Int("activateDim", -1);
    TORCH_CHECK_VALUE(x.dim() >= 2 && (axis == -1 || axis == x.dim() - 1), "x has shape ",
                      x.sizes(), " and activateDim is ", axis,
                      "; expected at least 2 dims, and the last one");
    const at::Tensor matrix = x.reshape({-1, x.size(-1)});
    const at::Tensor index = named.Tensor("groupIndex");
    Quantisation quantisation;
    quantisation.isDynamic = IsDynamic(named, "quantModeOptional", "dynamic");
    quantisation.mode = named.Text("roundModeOptional", "rint");
    int64_t groups = 1;
    if (index.defined()) {
        groups = index.numel();
        quantisation.rows =
            RowsOfGroups("groupIndexOptional", index, kCounts, matrix.size(0), matrix);
    }
    at::Tensor y = GateOf(named, Dequantised(named, matrix, quantisation.rows, groups));
    const int64_t columns = y.size(1);
    const at::Tensor scale = OfGroups("quantScaleOptional", named.Tensor("quantScale"),
                                      quantisation.rows, groups, columns);
    quantisation.offset = OfGroups("quantOffsetOptional", named.Tensor("quantOffset"),
                                   quantisation.rows, groups, columns);
    if (quantisation.isDynamic) {
        quantisation.scale = scale;
    } else {
        TORCH_CHECK_VALUE(scale.defined(),
                          "quantScaleOptional is null; expected one, as quantModeOptional is "
                          "static");
        y = at::div(y, scale);
    }
    std::vector<int64_t> shape = x.sizes().vec();
    shape.back() = columns;
    PutQuantised(named, y, quantisation, StepsOf(named, "yOut", named.Int("dstType", -1)), shape);
}

void GeluQuant(Call& call) {
    Named named(call);
    const std::string approximate = named.Text("approximate", "none");
    TORCH_CHECK_VALUE(approximate == "none" || approximate == "tanh", "approximate is ",
                      approximate, "; expected none or tanh");
    at::Tensor y = at::gelu(Wide(named.Tensor("self")), approximate);
    const bool isDynamic = IsDynamic(named, "quantMode", "dynamic");
    const at::Tensor scale = named.Tensor("inputScale");
    const at::Tensor offset = named.Tensor("inputOffset");
    for (const auto& [name, numbers] :
         {std::pair<const char*, at::Tensor>("inputScaleOptional", scale),
          std::pair<const char*, at::Tensor>("inputOffsetOptional", offset)}) {
        TORCH_CHECK_VALUE(!numbers.defined() || numbers.numel() == 1 ||
                              (y.dim() > 0 && numbers.numel() == y.size(-1)),
                          name, " has shape ",
                          numbers.defined() ? numbers.sizes() : at::IntArrayRef(),
                          "; expected one element, or one for each column");
    }
    y = scale.defined() ? at::mul(y, Wide(scale).reshape({-1})) : y;
    const Steps steps = StepsOf(named, "y", named.Int("dstType"));
    if (isDynamic) {
        TORCH_CHECK_VALUE(
            !offset.defined(),
            "inputOffsetOptional is not null; expected null, as quantMode is dynamic");
        const Dynamic rows = RoundedByRow(y, steps);
        named.Put({{"y", rows.numbers}, {"outScaleOptional", rows.scale}});
        return;
    }
    TORCH_CHECK_VALUE(scale.defined(),
                      "inputScaleOptional is null; expected one, as quantMode is static");
    y = offset.defined() ? at::add(y, Wide(offset).reshape({-1})) : y;
    named.Put({{"y", Rounded(y, steps, named.Text("roundMode", "rint"))}});
}

}  // namespace advstep_operators
