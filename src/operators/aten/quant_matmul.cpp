// SPDX-License-Identifier: Apache-2.0
// Products of matrices of whole numbers.

#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

at::Tensor Operand(const Named& named, const char* name, bool transposes) {
    const at::Tensor given = named.Tensor(name);
    const at::Tensor tensor = Unpacked(given, given.scalar_type() == at::kInt);
    TORCH_CHECK_VALUE(tensor.scalar_type() == at::kChar, name, " has dtype ", tensor.scalar_type(),
                      "; expected INT8, INT4, or INT32 with eight INT4 in each");
    TORCH_CHECK_VALUE(tensor.dim() >= 2, name, " has shape ", tensor.sizes(),
                      "; expected a matrix, or several");
    return transposes ? tensor.mT() : tensor;
}

// Returns the scales of columns: one, or one for each.
at::Tensor OfColumns(const char* name, const at::Tensor& scale, int64_t columns) {
    TORCH_CHECK_VALUE(scale.numel() == 1 || scale.numel() == columns, name, " has shape ",
                      scale.sizes(), "; expected one element, or one for each of the ", columns,
                      " columns");
    return scale.reshape({-1});
}

struct Names {
    const char* scale;  // of columns
    const char* rows;   // of rows
    const char* offset;
};

Names NamesOf(const Named& named) {
    if (named.Exists("x2Scale")) {
        return {"x2Scale", "x1Scale", "yOffset"};
    }
    return {named.Exists("scale") ? "scale" : "deqScale", "pertokenScale", "offset"};
}

// Returns sums + bias, where it is of whole numbers.
at::Tensor WithBias(const at::Tensor& sums, const at::Tensor& bias, bool whole) {
    if (!bias.defined() || at::isIntegralType(bias.scalar_type(), false) != whole) {
        return sums;
    }
    const bool fits = bias.size(-1) == sums.size(-1) &&
                      (bias.dim() == 1 || (bias.dim() == 3 && sums.dim() == 3 &&
                                           bias.size(1) == 1 && bias.size(0) == sums.size(0)));
    TORCH_CHECK_VALUE(fits, "bias has shape ", bias.sizes(),
                      "; expected one number for each of the ", sums.size(-1), " columns");
    return at::add(sums, bias.to(sums.scalar_type()));
}

}  // namespace

at::Tensor WholeProduct(const at::Tensor& one, const at::Tensor& other) {
    return at::matmul(one.to(at::kDouble), other.to(at::kDouble));
}

void QuantMatmul(Call& call) {
    Named named(call);
    named.Refuse({"yScale", "x1Offset", "x2Offset"});
    CheckNumber("groupSize", named.Int("groupSize"), 0, 0);
    const Names names = NamesOf(named);
    const at::Tensor x1 = Operand(named, "x1", named.Flag("transposeX1") || named.Flag("adjX1"));
    const at::Tensor x2 = Operand(named, "x2", named.Flag("transposeX2") || named.Flag("adjX2"));
    const at::Tensor bias = named.Given("bias");
    const at::Tensor sums = WithBias(WholeProduct(x1, x2), bias, true);
    const int64_t columns = sums.size(-1);
    at::Tensor y = sums.to(at::kFloat);
    at::Tensor offset = Wide(named.Given(names.offset));
    if (const at::Tensor scale = named.Tensor(names.scale); scale.defined()) {
        y = at::mul(y, OfColumns(names.scale, ScaleOf(scale), columns));
        const at::Tensor own = OffsetOf(scale);
        offset = offset.defined() ? offset : own;
    } else {
        y = at::mul(y, named.Real("deqScale", 1));
    }
    if (const at::Tensor rows = named.Given(names.rows); rows.defined()) {
        TORCH_CHECK_VALUE(rows.numel() == sums.size(-2) || rows.numel() == 1, names.rows,
                          " has shape ", rows.sizes(), "; expected one element for each of the ",
                          sums.size(-2), " rows");
        y = at::mul(y, Wide(rows).reshape({-1, 1}));
    }
    y = WithBias(y, bias, false);
    if (named.Exists("dims")) {
        y = at::sum(y, named.Ints("dims"), named.Flag("keepDims"));
    }
    const AdvStepTensorView* const out = named.View("out");
    if (out->dataType == ACL_INT8) {
        y = offset.defined() ? at::add(y, OfColumns(names.offset, offset, columns)) : y;
        named.Put({{"out", Rounded(y, StepsOf(named, "out"))}});
        return;
    }
    TORCH_CHECK_VALUE(!named.Given(names.offset).defined(), names.offset,
                      " is not null; expected null, as out is not INT8");
    TORCH_CHECK_TYPE(out->dataType == ACL_FLOAT16 || out->dataType == ACL_BF16 ||
                         out->dataType == ACL_FLOAT || out->dataType == ACL_INT32,
                     "out has dtype ", advstepDataTypeName(out->dataType),
                     "; expected FLOAT16, BF16, FLOAT, INT32 or INT8");
    named.Put({{"out", out->dataType == ACL_INT32 ? at::round(y) : y}});
}

}  // namespace advstep_operators
