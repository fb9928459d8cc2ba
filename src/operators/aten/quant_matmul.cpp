// SPDX-License-Identifier: Apache-2.0
// Products of matrices of whole numbers, and of FLOAT8.

#include "src/operators/aten/mx.h"
#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

bool IsFloat8(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat8_e4m3fn || tensor.scalar_type() == at::kFloat8_e5m2;
}

at::Tensor Operand(const Named& named, const char* name, bool transposes) {
    const at::Tensor given = named.Tensor(name);
    const at::Tensor tensor = Unpacked(given, given.scalar_type() == at::kInt);
    TORCH_CHECK_VALUE(tensor.scalar_type() == at::kChar || IsFloat8(tensor), name, " has dtype ",
                      tensor.scalar_type(),
                      "; expected INT8, INT4, INT32 with eight INT4 in each, FLOAT8_E4M3FN or "
                      "FLOAT8_E5M2");
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

// Returns the product of matrices with a power of two for each block of 32 numbers along K.
at::Tensor ProductOfBlocks(const Named& named, const Names& names) {
    constexpr int64_t kBlock = 32;
    const int64_t group = named.Int("groupSize");
    TORCH_CHECK_VALUE((group & 0xFFFF) == kBlock && group >> 48 == 0 && (group >> 32) <= 1 &&
                          (group >> 16 & 0xFFFF) <= 1,
                      "groupSize is ", group, "; expected 1 << 32 | 1 << 16 | 32, as ", names.scale,
                      " is FLOAT8_E8M0");
    const auto scaled = [&](const char* name, const char* scaleName, bool transposes,
                            bool isOther) {
        const at::Tensor given = named.Tensor(name);
        const at::Tensor scale = named.Given(scaleName);
        TORCH_CHECK_TYPE(IsFloat8(given), name, " has dtype ", given.scalar_type(),
                         "; expected FLOAT8_E4M3FN or FLOAT8_E5M2, as ", names.scale,
                         " is FLOAT8_E8M0");
        TORCH_CHECK_VALUE(given.dim() == 2 && scale.defined() && scale.dim() == 3, name, " has ",
                          given.dim(), " dims, and ", scaleName, " ",
                          scale.defined() ? scale.dim() : 0, "; expected 2 and 3");
        const int64_t axis = transposes == isOther ? 1 : 0;  // K
        TORCH_CHECK_VALUE(scale.size(1 - axis) == given.size(1 - axis), scaleName, " has shape ",
                          scale.sizes(), "; expected ", given.size(1 - axis), " along dim ",
                          1 - axis);
        const at::Tensor factors = FactorsOf(scaleName, scale, axis, given.size(axis), kBlock);
        const at::Tensor values = at::mul(given.to(at::kDouble), factors);
        return transposes ? values.mT() : values;
    };
    return at::matmul(scaled("x1", names.rows, named.Flag("transposeX1"), false),
                      scaled("x2", names.scale, named.Flag("transposeX2"), true));
}

// Puts a product of FLOAT8, with a bias of floating numbers.
void PutFloats(Named* named, const at::Tensor& y, const at::Tensor& bias) {
    const AdvStepTensorView* const out = named->View("out");
    TORCH_CHECK_TYPE(
        out->dataType == ACL_FLOAT16 || out->dataType == ACL_BF16 || out->dataType == ACL_FLOAT,
        "out has dtype ", advstepDataTypeName(out->dataType), "; expected FLOAT16, BF16 or FLOAT");
    TORCH_CHECK_TYPE(!bias.defined() || bias.is_floating_point(), "bias has dtype ",
                     bias.defined() ? bias.scalar_type() : at::kFloat, "; expected FLOAT");
    named->Put({{"out", WithBias(y, bias, false)}});
}

}  // namespace

at::Tensor WholeProduct(const at::Tensor& one, const at::Tensor& other) {
    return at::matmul(one.to(at::kDouble), other.to(at::kDouble));
}

void QuantMatmul(Call& call) {
    Named named(call);
    named.Refuse({"yScale", "x1Offset", "x2Offset"});
    const Names names = NamesOf(named);
    const at::Tensor factor = named.Given(names.scale);
    if (factor.defined() && factor.scalar_type() == at::kFloat8_e8m0fnu) {
        named.Refuse({names.offset, "dims"});
        PutFloats(&named, ProductOfBlocks(named, names), named.Given("bias"));
        return;
    }
    CheckNumber("groupSize", named.Int("groupSize"), 0, 0);
    const at::Tensor x1 = Operand(named, "x1", named.Flag("transposeX1") || named.Flag("adjX1"));
    const at::Tensor x2 = Operand(named, "x2", named.Flag("transposeX2") || named.Flag("adjX2"));
    const at::Tensor bias = named.Given("bias");
    TORCH_CHECK_TYPE(IsFloat8(x1) == IsFloat8(x2), "x1 and x2 have dtypes ", x1.scalar_type(),
                     " and ", x2.scalar_type(), "; expected whole numbers, or FLOAT8, in both");
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
    if (IsFloat8(x1)) {
        TORCH_CHECK_VALUE(!offset.defined(), names.offset, " is not null; expected null, as x1 is ",
                          x1.scalar_type());
        PutFloats(&named, y, bias);
        return;
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
