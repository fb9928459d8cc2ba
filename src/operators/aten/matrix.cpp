// SPDX-License-Identifier: Apache-2.0
// Products of matrices, straight into the output where that is possible.

#include "src/operators/aten/matrix.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>

#include "src/operators/aten/key_rows.h"
#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

constexpr int64_t kFewRows = 16;
constexpr int64_t kRowsInPlace = 8;           // more are faster by ATen's product of a copy
constexpr int64_t kTileElements = 64 * 1024;  // of a matrix, in float32 they fit a second cache

bool IsNarrow(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

// Returns rows [M, K] times columns [K, N] of a narrow dtype, in float32.
at::Tensor TimesColumns(const at::Tensor& rows, const at::Tensor& columns) {
    const bool byColumns = columns.stride(0) == 1;
    const at::Tensor lines = byColumns ? columns.t() : columns;
    const std::optional<KeyRows> inPlace =
        rows.size(0) <= kRowsInPlace
            ? KeyRows::InPlace(lines.unsqueeze(0).unsqueeze(2), at::Tensor(), lines.size(0))
            : std::nullopt;
    if (!inPlace) {
        return at::mm(rows, columns.to(at::kFloat));
    }
    const at::Tensor factors = rows.unsqueeze(0);
    return (byColumns ? inPlace->Times(factors) : inPlace->Weighted(factors)).squeeze(0);
}

// Returns how many columns of the matrix a tile has: a multiple of what a row in place may have,
// and enough for vectors, or to be worth a call.
int64_t TileColumns(int64_t rows, const at::Tensor& matrix) {
    const int64_t least = matrix.stride(1) == 1 ? 256 : rows <= kRowsInPlace ? 64 : kRowLanes;
    const int64_t fitting = kTileElements / std::max<int64_t>(matrix.size(0), 1);
    return std::max(fitting / kRowLanes * kRowLanes, least);
}

// Returns few rows times a matrix of a narrow dtype, in float32. The matrix is read where it lies,
// or converted tile by tile: as a whole it would be written to memory and read again, and ATen's
// own products of float16 are not vectorised on most processors.
at::Tensor RowsByNarrow(const at::Tensor& rows, const at::Tensor& matrix) {
    const at::Tensor wide = rows.to(at::kFloat).contiguous();
    const int64_t columns = matrix.size(1);
    at::Tensor product = at::empty({rows.size(0), columns}, wide.options());
    const int64_t tile = TileColumns(rows.size(0), matrix);
    const int64_t tiles = (columns + tile - 1) / tile;
    at::parallel_for(0, tiles, 1, [&](int64_t begin, int64_t end) {
        const c10::InferenceMode mode;
        for (int64_t place = begin; place < end; ++place) {
            const int64_t first = place * tile;
            const int64_t count = std::min(tile, columns - first);
            product.narrow(1, first, count)
                .copy_(TimesColumns(wide, matrix.narrow(1, first, count)));
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

namespace {

// Returns a tensor of three dims in the order of an argument, which is one of two.
at::Tensor Ordered(const Named& named, const char* tensor, const char* order,
                   at::IntArrayRef other) {
    const at::Tensor x = named.Tensor(tensor);
    CheckShape(tensor, x, {-1, -1, -1});
    TORCH_CHECK_TYPE(at::isFloatingType(x.scalar_type()), tensor, " has dtype ", x.scalar_type(),
                     "; expected FLOAT16, BF16 or FLOAT");
    const at::IntArrayRef axes = named.Ints(order);
    TORCH_CHECK_VALUE(axes.empty() || axes == at::IntArrayRef({0, 1, 2}) || axes == other, order,
                      " is ", axes, "; expected [0, 1, 2] or ", other);
    return axes.empty() ? x : x.permute(axes);
}

}  // namespace

void MultiplyOrdered(Call& call) {
    Named named(call);
    named.Refuse({"bias"});
    const at::Tensor one = Ordered(named, "x1", "permX1", {1, 0, 2});
    const at::Tensor other = Ordered(named, "x2", "permX2", {0, 2, 1});
    CheckShape("x2", other, {one.size(0), one.size(2), -1});
    const at::IntArrayRef order = named.Ints("permY");
    TORCH_CHECK_VALUE(order.empty() || order == at::IntArrayRef({1, 0, 2}), "permY is ", order,
                      "; expected [1, 0, 2]");
    const int64_t batches = one.size(0);
    const int64_t parts = std::max<int64_t>(named.Int("batchSplitFactor"), 1);
    TORCH_CHECK_VALUE(batches % parts == 0, "batchSplitFactor is ", parts,
                      "; expected a divisor of the ", batches, " batches");
    const at::Tensor scale = named.Given("scale");
    const bool rounds = named.View("out")->dataType == ACL_INT8;
    TORCH_CHECK_VALUE(scale.defined() == rounds, "scale is ", scale.defined() ? "not null" : "null",
                      "; expected a tensor if out is INT8, and null otherwise");
    TORCH_CHECK_VALUE(!rounds || parts == 1, "batchSplitFactor is ", parts,
                      "; expected 1, as there is a scale");
    const int64_t columns = batches * other.size(2);
    const at::Tensor y = Product(one, other).transpose(0, 1);  // [M, B, N]
    if (rounds) {
        CheckShape("scale", scale, {columns});
        const at::Tensor numbers =
            at::mul(Wide(y).reshape({y.size(0), 1, columns}), ScaleOf(scale));
        named.Put({{"out", Rounded(numbers, StepsOf(named, "out"))}});
        return;
    }
    named.Put(
        {{"out", parts == 1 ? y : y.reshape({y.size(0), parts, columns / parts}).transpose(0, 1)}});
}

void MultiplyAndFuse(Call& call) {
    Named named(call);
    const at::Tensor x1 = named.Tensor("x1");
    const at::Tensor x2 = named.Tensor("x2");
    TORCH_CHECK_VALUE(x1.dim() >= 2 && x2.dim() >= 2 && x1.size(-1) == x2.size(-2),
                      "x1 and x2 have shapes ", x1.sizes(), " and ", x2.sizes(),
                      "; expected matrices, or batches of them");
    TORCH_CHECK_TYPE(at::isFloatingType(x1.scalar_type()) && x1.scalar_type() == x2.scalar_type(),
                     "x1 and x2 have dtypes ", x1.scalar_type(), " and ", x2.scalar_type(),
                     "; expected FLOAT16, BF16 or FLOAT, the same of both");
    const std::string type = named.Text("fusedOpType");
    const bool takesThird = type == "add" || type == "mul";
    TORCH_CHECK_VALUE(
        takesThird || type.empty() || type == "relu" || type == "gelu_erf" || type == "gelu_tanh",
        "fusedOpType is ", type, "; expected relu, gelu_erf, gelu_tanh, add, mul or an empty text");
    const at::Tensor x3 = named.Given("x3");
    TORCH_CHECK_VALUE(x3.defined() == takesThird, "x3 is ", x3.defined() ? "not null" : "null",
                      "; expected a tensor if fusedOpType is add or mul, and null otherwise");
    at::Tensor y = Wide(Product(Wide(x1), Wide(x2)));
    if (const at::Tensor bias = named.Given("bias"); bias.defined()) {
        TORCH_CHECK_VALUE(bias.numel() == y.size(-1) && bias.size(-1) == y.size(-1),
                          "bias has shape ", bias.sizes(), "; expected one number for each of the ",
                          y.size(-1), " columns");
        y = at::add(y, Wide(bias).reshape({-1}));
    }
    if (takesThird) {
        CheckShape("x3", x3, y.sizes());
        y = type == "add" ? at::add(y, Wide(x3)) : at::mul(y, Wide(x3));
    } else if (type == "relu") {
        y = at::relu(y);
    } else if (!type.empty()) {
        y = at::gelu(y, type == "gelu_tanh" ? "tanh" : "none");
    }
    named.Put({{"y", y}});
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
