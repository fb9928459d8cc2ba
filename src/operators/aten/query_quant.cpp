// SPDX-License-Identifier: Apache-2.0
// The two forms of attention with queries of INT8, and what each of them takes.

#include "src/operators/aten/query_quant.h"

#include <string>

#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

constexpr int64_t kTokensOfHeads = 3;  // of queryQuantMode

// IncreFlashAttention and the others name the scales of products differently.
std::string KnownName(const Named& named, const char* one, const char* other) {
    return named.Exists(one) ? one : other;
}

// Returns the one number of a tensor.
at::Tensor NumberOf(const Named& named, const std::string& name) {
    const at::Tensor scale = named.Given(name);
    TORCH_CHECK_VALUE(scale.defined(), name, " is null; expected one number, as query is INT8");
    TORCH_CHECK_VALUE(scale.numel() == 1, name, " has shape ", scale.sizes(),
                      "; expected one number, as query is INT8");
    return ScaleOf(scale).reshape({});
}

// Refuses tensors that do not go with what the call has.
void CheckNull(const Named& named, std::initializer_list<const char*> names, const char* reason) {
    for (const char* name : names) {
        TORCH_CHECK_VALUE(!named.Given(name).defined(), name, " is not null; expected null, as ",
                          reason);
    }
}

void CheckOutput(const Named& named, std::initializer_list<aclDataType> dtypes, const char* texts) {
    const aclDataType dtype = named.View("attentionOut")->dataType;
    for (const aclDataType one : dtypes) {
        if (dtype == one) {
            return;
        }
    }
    TORCH_CHECK_TYPE(false, "attentionOut has dtype ", advstepDataTypeName(dtype), "; expected ",
                     texts, ", as query is INT8");
}

}  // namespace

QueryQuant::QueryQuant(const Named& named, bool incremental) {
    const at::ScalarType dtype = named.Tensor("query").scalar_type();
    if (at::isFloatingType(dtype)) {
        CheckNull(named,
                  {"deqScale1", "quantScale1", "deqScale2", "dequantScale1", "dequantScale2",
                   "dequantScaleQuery"},
                  "query has floats");
        return;
    }
    const bool takesWhole = dtype == at::kChar && !incremental;
    TORCH_CHECK_VALUE(takesWhole, "query has dtype ", dtype, "; expected FLOAT16, BF16 or FLOAT",
                      incremental ? ", as CANN takes no queries of INT8 one by one" : ", or INT8");
    if (named.Given("dequantScaleQuery").defined()) {
        SetByToken(named);
    } else {
        SetByTensor(named);
    }
}

void QueryQuant::SetByTensor(const Named& named) {
    CheckNull(named,
              {"antiquantScale", "antiquantOffset", "keyAntiquantScale", "keyAntiquantOffset",
               "valueAntiquantScale", "valueAntiquantOffset", "blockTable", "keySharedPrefix",
               "valueSharedPrefix", "queryRope", "keyRope", "learnableSink"},
              "query is INT8 with scales of whole tensors");
    const std::string layout = named.Text("inputLayout");
    TORCH_CHECK_VALUE(layout.rfind("TND", 0) != 0 && layout.rfind("NTD", 0) != 0, "inputLayout is ",
                      layout,
                      "; expected requests with a dim of their own, as query is INT8 with scales "
                      "of whole tensors");
    const at::Tensor query = named.Tensor("query");
    const bool fewer = named.Exists("softmaxLseFlag") && query.dim() >= 3 &&
                       query.size(layout.rfind("BNSD", 0) == 0 ? 2 : 1) == 1;
    TORCH_CHECK_VALUE(!fewer, "query has shape ", query.sizes(),
                      "; expected several tokens of a request, as query is INT8 with scales of "
                      "whole tensors");
    afterKeys_ = NumberOf(named, KnownName(named, "deqScale1", "dequantScale1"));
    ofWeights_ = NumberOf(named, "quantScale1");
    afterValues_ = NumberOf(named, KnownName(named, "deqScale2", "dequantScale2"));
    CheckOutput(named, {ACL_FLOAT16, ACL_INT8}, "FLOAT16, or INT8 with quantScale2");
}

void QueryQuant::SetByToken(const Named& named) {
    constexpr const char* kReason = "query is INT8 with dequantScaleQuery";
    CheckNull(named,
              {"deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2",
               "antiquantScale", "antiquantOffset", "keyAntiquantOffset", "valueAntiquantOffset",
               "keySharedPrefix", "valueSharedPrefix", "pseShift"},
              kReason);
    for (const char* name : {"queryRope", "keyRope", "keyAntiquantScale", "valueAntiquantScale"}) {
        TORCH_CHECK_VALUE(named.Given(name).defined(), name, " is null; expected a tensor, as ",
                          kReason);
    }
    for (const char* name : {"keyAntiquantScale", "valueAntiquantScale"}) {
        const at::Tensor scale = named.Tensor(name);
        TORCH_CHECK_VALUE(scale.numel() == 1, name, " has shape ", scale.sizes(),
                          "; expected one number, as ", kReason);
    }
    for (const char* name : {"keyAntiquantMode", "valueAntiquantMode"}) {
        CheckNumber(name, named.Int(name), 0, 0);
    }
    CheckNumber("queryQuantMode", named.Int("queryQuantMode"), kTokensOfHeads, kTokensOfHeads);
    CheckOutput(named, {ACL_BF16}, "BF16");
    const at::Tensor query = named.Tensor("query");
    const at::Tensor scales = named.Tensor("dequantScaleQuery");
    TORCH_CHECK_VALUE(query.dim() > 0 && scales.scalar_type() == at::kFloat,
                      "dequantScaleQuery has dtype ", scales.scalar_type(), "; expected FLOAT");
    std::vector<int64_t> shape = query.sizes().vec();
    shape.back() = named.Text("inputLayout").rfind("BSH", 0) == 0 ? named.Int("numHeads") : 1;
    const bool drops = shape.back() == 1 && scales.dim() + 1 == query.dim();
    ofTokens_ = drops ? scales.unsqueeze(-1) : scales;
    CheckShape("dequantScaleQuery", ofTokens_, shape);
}

at::Tensor QueryQuant::Products(const at::Tensor& q, const at::Tensor& k) const {
    const at::Tensor products = WholeProduct(q, k.transpose(1, 2)).to(at::kFloat);
    return afterKeys_.defined() ? at::mul(products, afterKeys_) : products;
}

at::Tensor QueryQuant::Sums(const at::Tensor& weights, const at::Tensor& v) const {
    const at::Tensor whole = Rounded(at::mul(weights, ofWeights_), Steps());
    return at::mul(WholeProduct(whole, v).to(at::kFloat), afterValues_);
}

}  // namespace advstep_operators
