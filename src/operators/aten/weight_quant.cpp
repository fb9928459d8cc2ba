// SPDX-License-Identifier: Apache-2.0
// Products with quantised weights.

#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

// Returns scales or offsets of groups of rows, or of all rows, as a factor of each row.
at::Tensor OfRows(const at::Tensor& numbers, int64_t group, int64_t rows) {
    const at::Tensor wide = numbers.to(at::kFloat);
    if (group <= 0 || wide.dim() < 2 || wide.size(-2) == 1) {
        return wide;
    }
    TORCH_CHECK_VALUE(wide.size(-2) * group >= rows && (wide.size(-2) - 1) * group < rows,
                      "antiquantScale is ", numbers.sizes(), "; expected a row for each group of ",
                      group, " of the ", rows, " rows");
    return at::repeat_interleave(wide, group, -2).narrow(-2, 0, rows);
}

}  // namespace

void WeightQuantBatchMatmul(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const at::Tensor given = named.Tensor("weight");
    const at::Tensor weight = Unpacked(given, given.scalar_type() == at::kInt).to(at::kFloat);
    TORCH_CHECK_VALUE(weight.dim() >= 2 && x.dim() >= 2, "x and weight have shapes ", x.sizes(),
                      " and ", weight.sizes(), "; expected matrices");
    const int64_t group = named.Int("antiquantGroupSize");
    const int64_t rows = weight.size(-2);
    at::Tensor whole = weight;
    if (const at::Tensor offset = named.Tensor("antiquantOffset"); offset.defined()) {
        whole = at::add(whole, OfRows(offset, group, rows));
    }
    whole = at::mul(whole, OfRows(named.Tensor("antiquantScale"), group, rows));
    at::Tensor product = at::matmul(x.to(at::kFloat), whole);
    if (const at::Tensor bias = named.Tensor("bias"); bias.defined()) {
        product = at::add(product, bias);
    }
    const at::Tensor scale = named.Tensor("quantScale");
    const at::Tensor offset = named.Tensor("quantOffset");
    const bool rounds = named.View("y")->dataType == ACL_INT8;
    TORCH_CHECK_VALUE(scale.defined() == rounds, "quantScaleOptional is ",
                      scale.defined() ? "not null" : "null",
                      "; expected a tensor if y is INT8, and null otherwise");
    TORCH_CHECK_VALUE(rounds || !offset.defined(),
                      "quantOffsetOptional is not null; expected null, as y is not INT8");
    if (rounds) {
        product = at::mul(product, ScaleOf(scale).reshape({-1}));
        const at::Tensor more = offset.defined() ? Wide(offset) : OffsetOf(scale);
        product = more.defined() ? at::add(product, more.reshape({-1})) : product;
        product = Rounded(product, StepsOf(named, "y"));
    }
    named.Put({{"y", product}});
}

}  // namespace advstep_operators
