// SPDX-License-Identifier: Apache-2.0
// Operators of language models, by ATen's.

#include "src/operators/aten/llm.h"

namespace advstep_operators {

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

at::Tensor Rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t mode) {
    TORCH_CHECK_VALUE(mode == 0 || mode == 1, "mode is ", mode,
                      "; expected 0 (halves) or 1 "
                      "(neighbours)");
    TORCH_CHECK_VALUE(x.dim() > 0 && x.size(-1) % 2 == 0, "x has shape ", x.sizes(),
                      "; expected an even last dim");
    at::Tensor turned;
    if (mode == 0) {
        const std::vector<at::Tensor> halves = at::chunk(x, 2, -1);
        turned = at::cat({at::neg(halves.at(1)), halves.at(0)}, -1);
    } else {
        const at::Tensor even = at::slice(x, -1, 0, std::nullopt, 2);
        const at::Tensor odd = at::slice(x, -1, 1, std::nullopt, 2);
        turned = at::stack({at::neg(odd), even}, -1).reshape(x.sizes());
    }
    return at::add(at::mul(x, cos), at::mul(turned, sin));
}

at::Tensor SwiGlu(const at::Tensor& x, int64_t dim) {
    TORCH_CHECK_VALUE(x.size(dim) % 2 == 0, "x has ", x.size(dim), " elements along dim ", dim,
                      "; expected an even number");
    const std::vector<at::Tensor> halves = at::chunk(x, 2, dim);
    return at::mul(at::silu(halves[0]), halves[1]);
}

std::tuple<at::Tensor, at::Tensor> GeGlu(const at::Tensor& x, int64_t dim, int64_t approximate,
                                         bool activateLeft) {
    TORCH_CHECK_VALUE(x.size(dim) % 2 == 0, "self has ", x.size(dim), " elements along dim ", dim,
                      "; expected an even number");
    const std::vector<at::Tensor> halves = at::chunk(x, 2, dim);
    const at::Tensor gelu =
        at::gelu(halves[activateLeft ? 0 : 1], approximate == 1 ? "tanh" : "none");
    return {at::mul(gelu, halves[activateLeft ? 1 : 0]), gelu};
}

}  // namespace advstep_operators
