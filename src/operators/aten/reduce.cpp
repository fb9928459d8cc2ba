// SPDX-License-Identifier: Apache-2.0
// Reductions and scans where one call of ATen does not do.

#include "src/operators/aten/reduce.h"

namespace advstep_operators {
namespace {

// Returns the dtype of a product of such elements, and that in which it is computed.
std::pair<at::ScalarType, at::ScalarType> TypesOfProduct(const at::Tensor& self,
                                                         std::optional<at::ScalarType> dtype) {
    const at::ScalarType own = self.scalar_type();
    const at::ScalarType asked = dtype.value_or(at::isIntegralType(own, true) ? at::kLong : own);
    const bool isNarrow = asked == at::kHalf || asked == at::kBFloat16;
    return {asked, isNarrow ? at::kFloat : asked};
}

}  // namespace

at::Tensor ProductOf(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
    const auto [asked, wide] = TypesOfProduct(self, dtype);
    return at::prod(self, wide).to(asked);
}

at::Tensor ProductOf(const at::Tensor& self, int64_t dim, bool keepDim,
                     std::optional<at::ScalarType> dtype) {
    const auto [asked, wide] = TypesOfProduct(self, dtype);
    return at::prod(self, dim, keepDim, wide).to(asked);
}

at::Tensor CumsumWays(const at::Tensor& self, int64_t dim, bool exclusive, bool reverse) {
    const at::Tensor forward = reverse ? at::flip(self, {dim}) : self;
    at::Tensor sums = at::cumsum(forward, dim);
    if (exclusive && self.dim() > 0 && self.size(dim) > 0) {
        const at::Tensor before = at::narrow(sums, dim, 0, self.size(dim) - 1);
        sums = at::cat({at::zeros_like(at::narrow(sums, dim, 0, 1)), before}, dim);
    } else if (exclusive) {
        sums = at::zeros_like(sums);
    }
    return reverse ? at::flip(sums, {dim}) : sums;
}

}  // namespace advstep_operators
