// SPDX-License-Identifier: Apache-2.0
// Grouped products whose rows are added to those of their tokens.

#include "src/operators/aten/experts.h"
#include "src/operators/aten/groups.h"
#include "src/operators/aten/quant.h"
#include "src/operators/aten/routing.h"

namespace advstep_operators {
namespace {

// The arguments' names, which version 1 has of its own.
struct FinalizeNames {
    const char *x, *weight, *transposesX, *transposesWeight, *out;
};

FinalizeNames FinalizeNamesOf(const Named& named) {
    return named.Exists("w") ? FinalizeNames{"x", "w", "transposeX", "transposeW", "y"}
                             : FinalizeNames{"x1", "x2", "transposeX1", "transposeX2", "out"};
}

void CheckWhole(const Named& named, const char* name) {
    const aclDataType dtype = named.View(name)->dataType;
    TORCH_CHECK_TYPE(dtype == ACL_INT8, name, " has dtype ", advstepDataTypeName(dtype),
                     "; expected INT8");
}

// Returns a number for each row, or nothing if the call leaves it out.
at::Tensor FactorsOf(const Named& named, const char* name, int64_t rows) {
    const at::Tensor numbers = named.Given(name);
    if (!numbers.defined()) {
        return {};
    }
    TORCH_CHECK_VALUE(numbers.numel() == rows, name, " has shape ", numbers.sizes(), "; expected ",
                      rows, " numbers, one for each row");
    return Wide(numbers).reshape({rows, 1});
}

// Returns the products of the rows of groups, and how many rows these are together.
at::Tensor Products(const Named& named, const FinalizeNames& names, const at::Tensor& x) {
    const at::Tensor given = named.Tensor(names.weight);
    CheckShape(names.weight, given, {-1, -1, -1});
    const at::Tensor weight = named.Flag(names.transposesWeight) ? given.mT() : given;
    CheckShape(names.weight, weight, {-1, x.size(1), -1});
    const at::Tensor list = named.Tensor("groupList");
    const at::Tensor scale = ScaleOf(named.Tensor("scale"));
    CheckShape("groupList", list, {weight.size(0)});
    CheckShape("scale", scale, {weight.size(0), weight.size(2)});
    const int64_t type = named.Int("groupListType");
    CheckNumber("groupListType", type, kEnds, kCounts);
    std::vector<at::Tensor> parts{at::zeros({0, weight.size(2)}, scale.options())};
    if (!list.is_meta()) {
        int64_t begin = 0;
        int64_t group = 0;
        for (const int64_t count : CountsOf("groupList", list, type, x.size(0))) {
            const at::Tensor whole =
                WholeProduct(x.narrow(0, begin, count), weight.select(0, group));
            parts.push_back(at::mul(whole.to(at::kFloat), scale.select(0, group)));
            begin += count;
            ++group;
        }
    }
    return at::cat(parts, 0);
}

// Returns the rows with those of sharedInput added, from sharedInputOffset on.
at::Tensor WithShared(const Named& named, const at::Tensor& rows) {
    const at::Tensor shared = named.Given("sharedInput");
    if (!shared.defined()) {
        return rows;
    }
    CheckShape("sharedInput", shared, {-1, rows.size(1)});
    const int64_t offset = named.Int("sharedInputOffset");
    TORCH_CHECK_VALUE(offset >= 0 && shared.size(0) <= rows.size(0) - offset,
                      "sharedInputOffset is ", offset, "; expected 0 to ",
                      rows.size(0) - shared.size(0), ", as sharedInput has ", shared.size(0),
                      " rows");
    const at::Tensor weighted = at::mul(Wide(shared), named.Real("sharedInputWeight"));
    const int64_t behind = rows.size(0) - offset - shared.size(0);
    return at::add(rows, at::constant_pad_nd(weighted, {0, 0, offset, behind}));
}

}  // namespace

void GroupedFinalize(Call& call) {
    Named named(call);
    named.Refuse({"bias", "offset", "antiquantScale", "antiquantOffset"});
    const FinalizeNames names = FinalizeNamesOf(named);
    CheckWhole(named, names.x);
    CheckWhole(named, names.weight);
    CheckNumber("dtype", named.Int("dtype"), 0, 0);
    TORCH_CHECK_VALUE(!named.Flag(names.transposesX), names.transposesX,
                      " is true; expected false");
    const at::Tensor x = named.Tensor(names.x);
    CheckShape(names.x, x, {-1, -1});
    const at::Tensor out = named.Tensor(names.out);
    CheckShape(names.out, out, {-1, -1});
    at::Tensor products = Products(named, names, x);
    const int64_t rows = products.size(0);  // those behind the groups have none
    for (const char* name : {"pertokenScale", "logit"}) {
        if (const at::Tensor factors = FactorsOf(named, name, x.size(0)); factors.defined()) {
            products = at::mul(products, factors.narrow(0, 0, rows));
        }
    }
    const at::Tensor index = named.Tensor("rowIndex");
    CheckShape("rowIndex", index, {x.size(0)});
    const at::Tensor places = Places("rowIndex", index.narrow(0, 0, rows), 0, out.size(0));
    const at::Tensor sums = at::index_add(
        at::zeros({out.size(0), products.size(1)}, products.options()), 0, places, products);
    named.Put({{names.out, WithShared(named, sums)}});
}

}  // namespace advstep_operators
