// SPDX-License-Identifier: Apache-2.0
// Norms of groups of channels.

#include "src/operators/aten/norms.h"

#include <algorithm>

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

struct GroupNorm {
    at::Tensor y;     // float32, the shape of x
    at::Tensor mean;  // [N, groups]
    at::Tensor rstd;
};

// Returns a tensor of each channel so that it broadcasts to x.
at::Tensor OfChannels(const at::Tensor& numbers, const char* name, const at::Tensor& x) {
    CheckShape(name, numbers, {x.size(1)});
    std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
    shape[1] = x.size(1);
    return Wide(numbers).reshape(shape);
}

// Returns x as [N, groups, elements of a group].
at::Tensor Grouped(const at::Tensor& x, const char* name, const char* groupsName, int64_t groups) {
    TORCH_CHECK_VALUE(x.dim() >= 2, name, " has shape ", x.sizes(), "; expected [N, C, ...]");
    TORCH_CHECK_VALUE(groups > 0 && x.size(1) % groups == 0, groupsName, " is ", groups,
                      "; expected a divisor of the ", x.size(1), " channels");
    const int64_t size = x.numel() / std::max<int64_t>(x.size(0) * groups, 1);
    return Wide(x).reshape({x.size(0), groups, size});
}

GroupNorm NormOf(const Named& named, const char* name, const char* groupsName) {
    const at::Tensor x = named.Tensor(name);
    const at::Tensor grouped = Grouped(x, name, groupsName, named.Int(groupsName));
    const at::Tensor mean = at::mean(grouped, {-1}, true);
    const at::Tensor centred = at::sub(grouped, mean);
    const at::Tensor rstd =
        at::rsqrt(at::add(at::mean(at::mul(centred, centred), {-1}, true), named.Real("eps")));
    at::Tensor y = at::mul(centred, rstd).reshape(x.sizes());
    if (const at::Tensor gamma = named.Tensor("gamma"); gamma.defined()) {
        y = at::mul(y, OfChannels(gamma, "gamma", x));
    }
    if (const at::Tensor beta = named.Tensor("beta"); beta.defined()) {
        y = at::add(y, OfChannels(beta, "beta", x));
    }
    return {y, mean.squeeze(-1), rstd.squeeze(-1)};
}

void CheckFormat(const Named& named, const char* name) {
    const std::string format = named.Text(name, "NCHW");
    TORCH_CHECK_VALUE(format == "NCHW", name, " is ", format, "; expected NCHW");
}

at::Tensor Swish(const at::Tensor& y, double scale) {
    return at::mul(y, at::sigmoid(at::mul(y, scale)));
}

}  // namespace

void GroupNormSilu(Call& call) {
    Named named(call);
    const GroupNorm norm = NormOf(named, "self", "group");
    named.Put({{"out", named.Flag("activateSilu", true) ? at::silu(norm.y) : norm.y},
               {"meanOut", norm.mean},
               {"rstdOut", norm.rstd}});
}

void GroupNormSwish(Call& call) {
    Named named(call);
    CheckFormat(named, "dataFormatOptional");
    const GroupNorm norm = NormOf(named, "x", "numGroups");
    named.Put(
        {{"yOut", named.Flag("activateSwish") ? Swish(norm.y, named.Real("swishScale")) : norm.y},
         {"meanOut", norm.mean},
         {"rstdOut", norm.rstd}});
}

void GroupNormSiluQuant(Call& call) {
    Named named(call);
    const GroupNorm norm = NormOf(named, "self", "group");
    const at::Tensor y = named.Flag("activateSilu") ? at::silu(norm.y) : norm.y;
    const at::Tensor scale = named.Tensor("quantScale");
    const at::Tensor factor =
        scale.numel() == 1 ? Wide(scale).reshape({}) : OfChannels(scale, "quantScale", y);
    named.Put({{"out", Rounded(at::div(y, factor), StepsOf(named, "out"))},
               {"meanOut", norm.mean},
               {"rstdOut", norm.rstd}});
}

// With n the norm without gamma and z = gamma n + beta: dz = dy s (1 + k z (1 - s)), where
// s = sigmoid(k z).
void GroupNormSwishGrad(Call& call) {
    Named named(call);
    CheckFormat(named, "dataFormatOptional");
    const at::Tensor x = named.Tensor("x");
    const int64_t groups = named.Int("numGroups");
    const double k = named.Real("swishScale");
    CheckShape("dy", named.Tensor("dy"), x.sizes());
    const at::Tensor grouped = Grouped(x, "x", "numGroups", groups);
    for (const char* name : {"mean", "rstd"}) {
        CheckShape(name, named.Tensor(name), {x.size(0), groups});
    }
    const at::Tensor root = Wide(named.Tensor("rstd")).unsqueeze(-1);
    const at::Tensor normed =
        at::mul(at::sub(grouped, Wide(named.Tensor("mean")).unsqueeze(-1)), root);
    const at::Tensor n = normed.reshape(x.sizes());
    const at::Tensor gamma = OfChannels(named.Tensor("gamma"), "gamma", x);
    const at::Tensor z = at::add(at::mul(n, gamma), OfChannels(named.Tensor("beta"), "beta", x));
    const at::Tensor s = at::sigmoid(at::mul(z, k));
    const at::Tensor slope = at::mul(s, at::add(at::mul(at::mul(z, at::rsub(s, 1)), k), 1));
    const at::Tensor dz = at::mul(Wide(named.Tensor("dy")), slope);
    const at::Tensor dn = at::mul(dz, gamma).reshape(grouped.sizes());
    const at::Tensor dx =
        at::mul(root, at::sub(at::sub(dn, at::mean(dn, {-1}, true)),
                              at::mul(normed, at::mean(at::mul(dn, normed), {-1}, true))));
    std::vector<int64_t> others;
    for (int64_t dim = 0; dim < x.dim(); ++dim) {
        if (dim != 1) {
            others.push_back(dim);
        }
    }
    named.Put({{"dxOut", dx.reshape(x.sizes())},
               {"dgammaOut",
                named.Flag("dgammaIsRequire") ? at::sum(at::mul(dz, n), others) : at::Tensor()},
               {"dbetaOut", named.Flag("dbetaIsRequire") ? at::sum(dz, others) : at::Tensor()}});
}

void InstanceNorm(Call& call) {
    Named named(call);
    CheckFormat(named, "dataFormat");
    const at::Tensor x = named.Tensor("x");
    const int64_t channels = x.dim() >= 2 ? x.size(1) : 1;
    const at::Tensor grouped = Grouped(x, "x", "the dim of channels", channels);
    const at::Tensor mean = at::mean(grouped, {-1}, true);
    const at::Tensor centred = at::sub(grouped, mean);
    const at::Tensor variance = at::mean(at::mul(centred, centred), {-1}, true);
    const at::Tensor normed =
        at::mul(centred, at::rsqrt(at::add(variance, named.Real("eps")))).reshape(x.sizes());
    named.Put({{"y", at::add(at::mul(normed, OfChannels(named.Tensor("gamma"), "gamma", x)),
                             OfChannels(named.Tensor("beta"), "beta", x))},
               {"mean", mean},
               {"variance", variance}});
}

}  // namespace advstep_operators
