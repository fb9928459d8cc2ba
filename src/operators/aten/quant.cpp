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
    TORCH_CHECK_VALUE(wide.size(-2) * group >= rows, "antiquantScale is ", numbers.sizes(),
                      "; expected a row for each group of ", group, " of the ", rows, " rows");
    return at::repeat_interleave(wide, group, -2).narrow(-2, 0, rows);
}

}  // namespace

void WeightQuantBatchMatmul(Call& call) {
    for (const char* name : {"quantScale", "quantOffset"}) {
        TORCH_CHECK_VALUE(!call.Has(name), name,
                          "Optional is not null; expected null: a quantised result "
                          "is not computed on this device");
    }
    const at::Tensor x = call.Tensor(call.PlaceOf("x"));
    const at::Tensor weight = call.Unpacked(call.PlaceOf("weight")).to(at::kFloat);
    const int64_t group = call.Int(call.PlaceOf("antiquantGroupSize"));
    const int64_t rows = weight.size(-2);
    at::Tensor whole = weight;
    if (const at::Tensor offset = call.Tensor(call.PlaceOf("antiquantOffset")); offset.defined()) {
        whole = at::add(whole, OfRows(offset, group, rows));
    }
    whole = at::mul(whole, OfRows(call.Tensor(call.PlaceOf("antiquantScale")), group, rows));
    at::Tensor product = at::matmul(x.to(at::kFloat), whole);
    if (const at::Tensor bias = call.Tensor(call.PlaceOf("bias")); bias.defined()) {
        product = at::add(product, bias);
    }
    call.Put(call.PlaceOf("y"), product);
}

}  // namespace advstep_operators
