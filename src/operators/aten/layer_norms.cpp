// SPDX-License-Identifier: Apache-2.0
// Layer norms: of sums, with scales of requests, quantised, and their gradients.

#include "src/operators/aten/norms.h"

#include <algorithm>

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

struct Moments {
    at::Tensor normed;  // (x - mean) * rstd, float32
    at::Tensor mean;    // of rows of the last dims
    at::Tensor rstd;
};

Moments MomentsOf(const at::Tensor& x, int64_t dims, double epsilon) {
    std::vector<int64_t> axes;
    for (int64_t dim = -dims; dim < 0; ++dim) {
        axes.push_back(dim);
    }
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor mean = at::mean(wide, axes, true);
    const at::Tensor centred = at::sub(wide, mean);
    const at::Tensor rstd =
        at::rsqrt(at::add(at::mean(at::mul(centred, centred), axes, true), epsilon));
    return {at::mul(centred, rstd), mean, rstd};
}

at::Tensor Weighted(const Named& named, const at::Tensor& normed, const char* weightName,
                    const char* biasName) {
    at::Tensor y = normed;
    if (const at::Tensor weight = named.Tensor(weightName); weight.defined()) {
        CheckLastDims(weightName, weight, normed);
        y = at::mul(y, Wide(weight));
    }
    if (const at::Tensor bias = named.Tensor(biasName); bias.defined()) {
        CheckLastDims(biasName, bias, normed);
        y = at::add(y, Wide(bias));
    }
    return y;
}

// Returns x1 + x2 + bias in the dtype of x1 + x2.
at::Tensor SumOf(const Named& named) {
    const at::Tensor x1 = named.Tensor("x1");
    const at::Tensor x2 = named.Tensor("x2");
    CheckShape("x2", x2, x1.sizes());
    at::Tensor sum = at::add(Wide(x1), Wide(x2));
    if (const at::Tensor bias = named.Tensor("bias"); bias.defined()) {
        TORCH_CHECK_VALUE(
            bias.sizes() == x1.sizes() || (bias.dim() == 1 && bias.size(0) == x1.size(-1)),
            "biasOptional has shape ", bias.sizes(), "; expected ", x1.sizes(), " or its last dim");
        sum = at::add(sum, Wide(bias));
    }
    return sum;
}

struct Gradients {
    at::Tensor x;
    at::Tensor gamma;
    at::Tensor beta;
};

// Returns the gradients of a norm over the dims of gamma, of x as it was normalised.
Gradients GradientsOf(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& mean,
                      const at::Tensor& rstd, const at::Tensor& gamma) {
    CheckLastDims("gamma", gamma, x);
    CheckShape("dy", dy, x.sizes());
    std::vector<int64_t> rows = x.sizes().vec();
    std::fill(rows.end() - gamma.dim(), rows.end(), 1);
    const int64_t count = c10::multiply_integers(rows);
    TORCH_CHECK_VALUE(mean.numel() == count && rstd.numel() == count, "mean and rstd have shapes ",
                      mean.sizes(), " and ", rstd.sizes(), "; expected ", at::IntArrayRef(rows));
    std::vector<int64_t> axes;
    for (int64_t dim = -gamma.dim(); dim < 0; ++dim) {
        axes.push_back(dim);
    }
    const at::Tensor root = Wide(rstd).reshape(rows);
    const at::Tensor wide = Wide(dy);
    const at::Tensor normed = at::mul(at::sub(Wide(x), Wide(mean).reshape(rows)), root);
    const at::Tensor scaled = at::mul(wide, Wide(gamma));
    const at::Tensor along = at::mul(normed, at::mean(at::mul(scaled, normed), axes, true));
    const at::Tensor dx =
        at::mul(root, at::sub(at::sub(scaled, at::mean(scaled, axes, true)), along));
    std::vector<int64_t> flat = gamma.sizes().vec();
    flat.insert(flat.begin(), count);
    return {dx, at::sum(at::mul(wide, normed).reshape(flat), 0), at::sum(wide.reshape(flat), 0)};
}

// Returns scale or shift, [B, H] or [B, 1, H], so that it broadcasts to x, [B, S, H].
at::Tensor OfRequests(const Named& named, const char* name, const at::Tensor& x) {
    TORCH_CHECK_VALUE(x.dim() >= 2, "x has shape ", x.sizes(), "; expected [B, S, H]");
    const at::Tensor given = named.Tensor(name);
    std::vector<int64_t> shape = x.sizes().vec();
    shape[shape.size() - 2] = 1;
    TORCH_CHECK_VALUE(given.numel() == c10::multiply_integers(shape) &&
                          given.dim() >= x.dim() - 1 && given.size(-1) == x.size(-1),
                      name, " has shape ", given.sizes(), "; expected ", at::IntArrayRef(shape));
    return Wide(given).reshape(shape);
}

at::Tensor Adapted(const Named& named, const at::Tensor& x, const Moments& moments) {
    const at::Tensor normed = Weighted(named, moments.normed, "weight", "bias");
    return at::add(at::mul(normed, at::add(OfRequests(named, "scale", x), 1)),
                   OfRequests(named, "shift", x));
}

}  // namespace

void LayerNorm(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("input");
    const at::IntArrayRef shape = named.Ints("normalizedShape");
    TORCH_CHECK_VALUE(!shape.empty() && static_cast<int64_t>(shape.size()) <= x.dim() &&
                          x.sizes().slice(x.sizes().size() - shape.size()) == shape,
                      "normalizedShape is ", shape, "; expected the last dims of input, ",
                      x.sizes());
    const Moments moments = MomentsOf(x, static_cast<int64_t>(shape.size()), named.Real("eps"));
    named.Put({{"out", Weighted(named, moments.normed, "weight", "bias")},
               {"meanOut", moments.mean},
               {"rstdOut", moments.rstd}});
}

void AddLayerNorm(Call& call) {
    Named named(call);
    const at::Tensor sum = SumOf(named);
    const Moments moments = MomentsOf(sum, named.Tensor("gamma").dim(), named.Real("epsilon"));
    named.Put({{"yOut", Weighted(named, moments.normed, "gamma", "beta")},
               {"meanOut", moments.mean},
               {"rstdOut", moments.rstd},
               {"xOut", named.Flag("additionalOutput") ? sum : at::Tensor()}});
}

void AddLayerNormGrad(Call& call) {
    Named named(call);
    const at::Tensor x = SumOf(named);
    Gradients gradients = GradientsOf(named.Tensor("dy"), x, named.Tensor("mean"),
                                      named.Tensor("rstd"), named.Tensor("gamma"));
    if (const at::Tensor more = named.Tensor("dsum"); more.defined()) {
        CheckShape("dsumOptional", more, x.sizes());
        gradients.x = at::add(gradients.x, Wide(more));
    }
    named.Put(
        {{"dxOut", gradients.x}, {"dgammaOut", gradients.gamma}, {"dbetaOut", gradients.beta}});
}

void AddLayerNormQuant(Call& call) {
    Named named(call);
    const std::string mode = named.Text("quantMode");
    TORCH_CHECK_VALUE(mode == "static" || mode == "dynamic", "quantMode is ", mode,
                      "; expected static or dynamic");
    const at::Tensor sum = SumOf(named);
    const Moments moments = MomentsOf(sum, named.Tensor("gamma").dim(), named.Real("epsilon"));
    const at::Tensor y = Weighted(named, moments.normed, "gamma", "beta");
    Named::Results results = {{"xOut", named.Flag("additionalOutput") ? sum : at::Tensor()},
                              {"layernormRes", y}};
    struct Names {
        const char *scales, *offsets, *y, *out;
    };
    for (const Names& names : {Names{"scales1", "zeroPoints1", "y1Out", "outScales1Out"},
                               Names{"scales2", "zeroPoints2", "y2Out", "outScales2Out"}}) {
        const at::Tensor scales = Wide(named.Tensor(names.scales));
        const at::Tensor offsets = Wide(named.Tensor(names.offsets));
        const bool first = names.scales[6] == '1';
        if (!scales.defined() && !(first && mode == "dynamic")) {
            TORCH_CHECK_VALUE(!first,
                              "scales1Optional is null; expected one, as quantMode is "
                              "static");
            continue;
        }
        if (scales.defined()) {
            CheckLastDims(names.scales, scales, sum);
        }
        const Steps steps = StepsOf(named, names.y);
        if (mode == "dynamic") {
            TORCH_CHECK_VALUE(!offsets.defined(), names.offsets,
                              "Optional is not null; expected null, as quantMode is dynamic");
            const Dynamic rows = RoundedByRow(scales.defined() ? at::mul(y, scales) : y, steps);
            results.emplace_back(names.y, rows.numbers);
            results.emplace_back(names.out, rows.scale);
        } else {
            at::Tensor scaled = named.Flag("divMode") ? at::div(y, scales) : at::mul(y, scales);
            scaled = offsets.defined() ? at::add(scaled, offsets) : scaled;
            results.emplace_back(names.y, Rounded(scaled, steps));
        }
    }
    named.Put(results);
}

void DeepNorm(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    CheckShape("gx", named.Tensor("gx"), x.sizes());
    const at::Tensor sum = at::add(at::mul(Wide(x), named.Real("alpha")), Wide(named.Tensor("gx")));
    const Moments moments = MomentsOf(sum, named.Tensor("gamma").dim(), named.Real("epsilon"));
    named.Put({{"meanOut", moments.mean},
               {"rstdOut", moments.rstd},
               {"yOut", Weighted(named, moments.normed, "gamma", "beta")}});
}

void DeepNormGrad(Call& call) {
    Named named(call);
    const double alpha = named.Real("alpha");
    const at::Tensor x = named.Tensor("x");
    CheckShape("gx", named.Tensor("gx"), x.sizes());
    const at::Tensor sum = at::add(at::mul(Wide(x), alpha), Wide(named.Tensor("gx")));
    const Gradients gradients = GradientsOf(named.Tensor("dy"), sum, named.Tensor("mean"),
                                            named.Tensor("rstd"), named.Tensor("gamma"));
    named.Put({{"dxOut", at::mul(gradients.x, alpha)},
               {"dgxOut", gradients.x},
               {"dbetaOut", gradients.beta},
               {"dgammaOut", gradients.gamma}});
}

void AdaLayerNorm(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const Moments moments = MomentsOf(x, 1, named.Real("epsilon"));
    named.Put({{"out", Adapted(named, x, moments)},
               {"meanOut", moments.mean},
               {"rstdOut", moments.rstd}});
}

void AdaLayerNormQuant(Call& call) {
    Named named(call);
    named.Refuse({"quantOffset"});
    const std::string mode = named.Text("quantMode");
    TORCH_CHECK_VALUE(mode == "dynamic", "quantMode is ", mode, "; expected dynamic");
    const at::Tensor x = named.Tensor("x");
    at::Tensor y = Adapted(named, x, MomentsOf(x, 1, named.Real("epsilon")));
    if (const at::Tensor smooth = named.Tensor("smoothScales"); smooth.defined()) {
        CheckShape("smoothScalesOptional", smooth, {x.size(-1)});
        y = at::mul(y, Wide(smooth));
    }
    const Dynamic rows = RoundedByRow(y, StepsOf(named, "out"));
    named.Put({{"out", rows.numbers}, {"quantScale", rows.scale}});
}

void AdaLayerNormBackward(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("input");
    const at::IntArrayRef shape = named.Ints("normalizedShape");
    TORCH_CHECK_VALUE(shape.size() == 1 && x.dim() >= 2 && shape[0] == x.size(-1),
                      "normalizedShape is ", shape, "; expected the last dim of input, ",
                      x.sizes());
    const at::Tensor gradient = Wide(named.Tensor("gradOut"));
    CheckShape("gradOut", gradient, x.sizes());
    const at::Tensor factor = at::add(OfRequests(named, "scale", x), 1);
    OfRequests(named, "shift", x);
    const at::Tensor weight = named.Tensor("weight");
    const at::Tensor gamma = weight.defined() ? weight : at::ones({x.size(-1)}, gradient.options());
    const at::Tensor into = at::mul(gradient, factor);
    const Gradients gradients =
        GradientsOf(into, x, named.Tensor("mean"), named.Tensor("rstd"), gamma);
    std::vector<int64_t> rows = x.sizes().vec();
    rows.back() = 1;
    const at::Tensor normed = at::mul(at::sub(Wide(x), Wide(named.Tensor("mean")).reshape(rows)),
                                      Wide(named.Tensor("rstd")).reshape(rows));
    named.Put({{"gradInputOut", gradients.x},
               {"gradScaleOut",
                at::sum(at::mul(gradient, Weighted(named, normed, "weight", "bias")), -2)},
               {"gradShiftOut", at::sum(gradient, -2)},
               {"gradWeightOut", gradients.gamma},
               {"gradBiasOut", gradients.beta}});
}

}  // namespace advstep_operators
