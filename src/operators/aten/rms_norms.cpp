// SPDX-License-Identifier: Apache-2.0
// Root mean square norms.

#include "src/operators/aten/norms.h"

#include <algorithm>

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

// Returns the dims of gamma, counted from the end.
std::vector<int64_t> LastDims(const at::Tensor& gamma) {
    std::vector<int64_t> dims;
    for (int64_t dim = -gamma.dim(); dim < 0; ++dim) {
        dims.push_back(dim);
    }
    return dims;
}

struct Norm {
    at::Tensor y;     // float32
    at::Tensor rstd;  // float32
    at::Tensor x;     // the sum, in the dtype of x1, or x
};

// Returns the norm of x, or of x1 + x2.
Norm NormOf(const Named& named) {
    at::Tensor x = named.Tensor("x");
    if (!x.defined()) {
        const at::Tensor x1 = named.Tensor("x1");
        CheckShape("x2", named.Tensor("x2"), x1.sizes());
        x = at::add(x1, named.Tensor("x2"));
    }
    const at::Tensor gamma = named.Tensor("gamma");
    CheckLastDims("gamma", gamma, x);
    auto [y, rstd] = RmsNorm(x, gamma, named.Real("epsilon"));
    if (const at::Tensor beta = named.Tensor("beta"); beta.defined()) {
        CheckLastDims("beta", beta, x);
        y = at::add(y, Wide(beta));
    }
    return {y, rstd, x};
}

// Returns numbers of the norm by the scales of one place, or nothing without them.
at::Tensor Fixed(const Named& named, const Norm& norm, const char* scaleName,
                 const char* offsetName, const char* output, bool divides) {
    const at::Tensor scale = Wide(named.Tensor(scaleName));
    if (!scale.defined()) {
        return {};
    }
    TORCH_CHECK_VALUE(scale.numel() == 1 || scale.numel() == norm.y.size(-1), scaleName,
                      " has shape ", scale.sizes(),
                      "; expected one element, or one for each of the ", norm.y.size(-1),
                      " of the last dim of x");
    const at::Tensor factor = scale.reshape({-1});
    at::Tensor scaled = divides ? at::div(norm.y, factor) : at::mul(norm.y, factor);
    if (const at::Tensor offset = Wide(named.Tensor(offsetName)); offset.defined()) {
        TORCH_CHECK_VALUE(offset.numel() == scale.numel(), offsetName, " has shape ",
                          offset.sizes(), "; expected that of ", scaleName, ", ", scale.sizes());
        scaled = at::add(scaled, offset.reshape({-1}));
    }
    return Rounded(scaled, StepsOf(named, output));
}

// Returns rows of the norm times a smooth scale, if there is one.
Dynamic ByRow(const Named& named, const Norm& norm, const char* smoothName, const char* output) {
    const at::Tensor smooth = Wide(named.Tensor(smoothName));
    if (smooth.defined()) {
        CheckShape(smoothName, smooth, {norm.y.size(-1)});
    }
    return RoundedByRow(smooth.defined() ? at::mul(norm.y, smooth) : norm.y,
                        StepsOf(named, output));
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> RmsNorm(const at::Tensor& x, const at::Tensor& gamma,
                                           double epsilon) {
    std::vector<int64_t> dims;
    for (int64_t dim = 1; dim <= gamma.dim(); ++dim) {
        dims.push_back(-dim);
    }
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor root = at::rsqrt(at::add(at::mean(at::mul(wide, wide), dims, true), epsilon));
    return {at::mul(at::mul(wide, root), gamma), root};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x1,
                                                          const at::Tensor& x2,
                                                          const at::Tensor& gamma, double epsilon) {
    const at::Tensor sum = at::add(x1, x2);
    auto [y, root] = RmsNorm(sum, gamma, epsilon);
    return {y, root, sum};
}

std::tuple<at::Tensor, at::Tensor> RmsNormGrad(const at::Tensor& dy, const at::Tensor& x,
                                               const at::Tensor& rstd, const at::Tensor& gamma) {
    CheckLastDims("gamma", gamma, x);
    CheckShape("dy", dy, x.sizes());
    const std::vector<int64_t> dims = LastDims(gamma);
    std::vector<int64_t> rows = x.sizes().vec();
    std::fill(rows.end() - gamma.dim(), rows.end(), 1);
    TORCH_CHECK_VALUE(rstd.numel() == c10::multiply_integers(rows), "rstd has shape ", rstd.sizes(),
                      "; expected ", at::IntArrayRef(rows));
    const at::Tensor root = rstd.to(at::kFloat).reshape(rows);
    const at::Tensor wide = dy.to(at::kFloat);
    const at::Tensor normed = at::mul(x.to(at::kFloat), root);
    const at::Tensor scaled = at::mul(wide, gamma.to(at::kFloat));
    const at::Tensor dx = at::mul(
        root, at::sub(scaled, at::mul(normed, at::mean(at::mul(scaled, normed), dims, true))));
    std::vector<int64_t> flat = gamma.sizes().vec();
    flat.insert(flat.begin(), c10::multiply_integers(rows));
    return {dx, at::sum(at::mul(wide, normed).reshape(flat), 0)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> InplaceAddRmsNorm(const at::Tensor& x1,
                                                                 const at::Tensor& x2,
                                                                 const at::Tensor& gamma,
                                                                 double epsilon) {
    CheckShape("x2Ref", x2, x1.sizes());
    CheckLastDims("gamma", gamma, x1);
    return AddRmsNorm(x1, x2, gamma, epsilon);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> AddRmsNormCast(const at::Tensor& x1,
                                                                          const at::Tensor& x2,
                                                                          const at::Tensor& gamma,
                                                                          double epsilon) {
    CheckShape("x2", x2, x1.sizes());
    CheckLastDims("gamma", gamma, x1);
    const auto [y, rstd, x] = AddRmsNorm(x1, x2, gamma, epsilon);
    return {y, y, rstd, x};
}

void RmsNormGradQuant(Call& call) {
    Named named(call);
    const std::string mode = named.Text("quantMode", "static");
    TORCH_CHECK_VALUE(mode == "static", "quantMode is ", mode, "; expected static");
    const auto [dx, dgamma] = RmsNormGrad(named.Tensor("dy"), named.Tensor("x"),
                                          named.Tensor("rstd"), named.Tensor("gamma"));
    const at::Tensor rounded =
        Fixed(named, Norm{dx, {}, {}}, "scalesX", "offsetX", "dxOut", named.Flag("divMode"));
    named.Put({{"dxOut", rounded}, {"dgammaOut", dgamma}});
}

void RmsNormQuant(Call& call) {
    Named named(call);
    const Norm norm = NormOf(named);
    const bool asksForRoot = named.Flag("outputRstd");
    named.Put({{"y", Fixed(named, norm, "scale", "offset", "y", named.Flag("divMode", true))},
               {"rstd", asksForRoot ? norm.rstd : at::Tensor()}});
}

void AddRmsNormQuant(Call& call) {
    Named named(call);
    const int64_t axis = named.Int("axis", -1);
    const Norm norm = NormOf(named);
    TORCH_CHECK_VALUE(axis == -1 || axis == norm.y.dim() - 1, "axis is ", axis,
                      "; expected -1, the last dim");
    TORCH_CHECK_VALUE(named.Has("scales2") || !named.Has("zeroPoints2"),
                      "scales2Optional is null; expected one, as there is zeroPoints2Optional");
    TORCH_CHECK_VALUE(!named.Has("scales2") || named.Has("y2Out"),
                      "y2Out is null; expected a tensor, as there is scales2Optional");
    const bool divides = named.Flag("divMode");
    named.Put({{"y1Out", Fixed(named, norm, "scales1", "zeroPoints1", "y1Out", divides)},
               {"y2Out", Fixed(named, norm, "scales2", "zeroPoints2", "y2Out", divides)},
               {"xOut", norm.x},
               {"rmsNormOut", norm.y}});
}

void RmsNormDynamicQuant(Call& call) {
    Named named(call);
    const Norm norm = NormOf(named);
    StepsOf(named, "yOut", named.Int("dstType"));
    const Dynamic rows = ByRow(named, norm, "smoothScales", "yOut");
    named.Put({{"yOut", rows.numbers}, {"scaleOut", rows.scale}});
}

void AddRmsNormDynamicQuant(Call& call) {
    Named named(call);
    const Norm norm = NormOf(named);
    bool wants[2] = {true, named.Has("smoothScale2")};
    if (const std::vector<bool> mask = named.Flags("outputMask"); !mask.empty()) {
        TORCH_CHECK_VALUE(mask.size() == 2, "outputMask has ", mask.size(),
                          " flags; expected 2, for y1Out and y2Out");
        wants[0] = mask[0];
        wants[1] = mask[1];
    } else {
        TORCH_CHECK_VALUE(!wants[1] || named.Has("smoothScale1"),
                          "smoothScale1Optional is null; expected one, as there is "
                          "smoothScale2Optional");
    }
    const Dynamic first = wants[0] ? ByRow(named, norm, "smoothScale1", "y1Out") : Dynamic();
    const Dynamic second = wants[1] ? ByRow(named, norm, "smoothScale2", "y2Out") : Dynamic();
    named.Put({{"y1Out", first.numbers},
               {"y2Out", second.numbers},
               {"xOut", norm.x},
               {"scale1Out", first.scale},
               {"scale2Out", second.scale}});
}

}  // namespace advstep_operators
