// SPDX-License-Identifier: Apache-2.0
// Products of matrices, straight into the output where that is possible.

#include "src/operators/aten/matrix.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

namespace advstep_operators {
namespace {

constexpr int64_t kFewRows = 16;
constexpr int64_t kTileElements = 64 * 1024;  // of a matrix, in float32 they fit a second cache

bool IsNarrow(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

// Returns few rows times a matrix of a narrow dtype, in float32. The matrix is converted tile by
// tile: as a whole it would be written to memory and read again, and ATen's own products of
// float16 are not vectorised on most processors.
at::Tensor RowsByNarrow(const at::Tensor& rows, const at::Tensor& matrix) {
    const at::Tensor wide = rows.to(at::kFloat);
    const int64_t columns = matrix.size(1);
    at::Tensor product = at::empty({rows.size(0), columns}, wide.options());
    // Rows of a tile that lies by rows are long enough for vectors.
    const int64_t least = matrix.stride(1) == 1 ? 256 : 16;
    const int64_t tile =
        std::max<int64_t>(kTileElements / std::max<int64_t>(matrix.size(0), 1), least);
    const int64_t tiles = (columns + tile - 1) / tile;
    at::parallel_for(0, tiles, 1, [&](int64_t begin, int64_t end) {
        const c10::InferenceMode mode;
        for (int64_t place = begin; place < end; ++place) {
            const int64_t first = place * tile;
            const int64_t count = std::min(tile, columns - first);
            at::Tensor into = product.narrow(1, first, count);
            at::mm_out(into, wide, matrix.narrow(1, first, count).to(at::kFloat));
        }
    });
    return product;
}

// Returns a product of narrow dtypes with sums in float32.
at::Tensor NarrowProduct(const at::Tensor& self, const at::Tensor& other) {
    const bool fewRows = self.dim() == 2 && other.dim() == 2 && self.size(0) <= kFewRows &&
                         self.size(1) == other.size(0) && other.numel() > kTileElements &&
                         !self.is_meta();
    return fewRows ? RowsByNarrow(self, other)
                   : at::matmul(self.to(at::kFloat), other.to(at::kFloat));
}

bool IsMatrixProduct(const at::Tensor& self, const at::Tensor& other) {
    return self.dim() == 2 && other.dim() == 2 && self.scalar_type() == other.scalar_type() &&
           !IsNarrow(self.scalar_type());
}

bool IsBatchProduct(const at::Tensor& self, const at::Tensor& other) {
    return self.dim() == 3 && other.dim() == 3 && self.size(0) == other.size(0) &&
           self.scalar_type() == other.scalar_type() && !IsNarrow(self.scalar_type());
}

}  // namespace

at::Tensor Product(const at::Tensor& self, const at::Tensor& other) {
    const at::ScalarType type = at::result_type(self, other);
    if (IsNarrow(type)) {
        return NarrowProduct(self, other);
    }
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
