// SPDX-License-Identifier: Apache-2.0
// Products of matrices, straight into the output where that is possible.

#include "src/operators/aten/matrix.h"

namespace advstep_operators {
namespace {

bool IsMatrixProduct(const at::Tensor& self, const at::Tensor& other) {
    return self.dim() == 2 && other.dim() == 2 && self.scalar_type() == other.scalar_type();
}

bool IsBatchProduct(const at::Tensor& self, const at::Tensor& other) {
    return self.dim() == 3 && other.dim() == 3 && self.size(0) == other.size(0) &&
           self.scalar_type() == other.scalar_type();
}

}  // namespace

at::Tensor Product(const at::Tensor& self, const at::Tensor& other) {
    const at::ScalarType type = at::result_type(self, other);
    return at::matmul(self.to(type), other.to(type));
}

void Multiply(Call& call) {
    const at::Tensor self = call.Tensor(0);
    const at::Tensor other = call.Tensor(1);
    const auto compute = [&] { return Product(self, other); };
    if (IsMatrixProduct(self, other)) {
        call.PutDirectly(2, false, compute,
                         [&](at::Tensor& into) { at::mm_out(into, self, other); });
    } else if (IsBatchProduct(self, other)) {
        call.PutDirectly(2, false, compute,
                         [&](at::Tensor& into) { at::bmm_out(into, self, other); });
    } else {
        call.Put(2, compute());
    }
}

at::Tensor AddProduct(const at::Tensor& self, const at::Tensor& one, const at::Tensor& other,
                      const at::Scalar& beta, const at::Scalar& alpha) {
    const at::Tensor product = at::mul(Product(one, other), alpha);
    return beta.equal(0) ? product : at::add(product, at::mul(self, beta));
}

std::tuple<at::Tensor, at::Tensor> SolveTriangular(const at::Tensor& b, const at::Tensor& A,
                                                   bool upper, bool transpose, bool unitriangular) {
    const at::Tensor matrix = transpose ? A.mT() : A;
    return {at::linalg_solve_triangular(matrix, b, upper != transpose, true, unitriangular),
            A.clone()};
}

}  // namespace advstep_operators
