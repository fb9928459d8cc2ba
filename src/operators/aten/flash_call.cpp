// SPDX-License-Identifier: Apache-2.0
// Layouts, requests, masks and dropped probabilities of attention of training.

#include "src/operators/aten/flash_call.h"

#include <algorithm>

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

constexpr int64_t kUnlimited = 2147483647;
constexpr int64_t kCompressed = 2048;  // both sizes of the mask of sparse modes 2, 3 and 4
constexpr int64_t kRepeats = 8;        // of maximum and sum

const char* KeyName(const Named& named) { return named.Exists("keyIn") ? "keyIn" : "key"; }

// Returns the ends of requests, or refuses them.
std::vector<int64_t> EndsOf(const Named& named, const char* name, int64_t tokens) {
    const at::IntArrayRef ends = named.Ints(name);
    TORCH_CHECK_VALUE(!ends.empty(), name,
                      " is null or empty; expected the ends of requests, as "
                      "inputLayout is TND");
    int64_t before = 0;
    for (const int64_t end : ends) {
        TORCH_CHECK_VALUE(end >= before && end <= tokens, name, " is ", ends,
                          "; expected ascending ends of requests of at most ", tokens, " tokens");
        before = end;
    }
    return ends.vec();
}

int64_t BeginOf(const std::vector<int64_t>& ends, int64_t request) {
    return request == 0 ? 0 : ends[static_cast<size_t>(request) - 1];
}

}  // namespace

FlashCall::FlashCall(const Named& named)
    : query_(named.Tensor("query")),
      key_(named.Tensor(KeyName(named))),
      value_(named.Tensor("value")),
      queryRope_(named.Tensor("queryRope")),
      keyRope_(named.Tensor(named.Exists("keyInRope") ? "keyInRope" : "keyRope")),
      pse_(named.Tensor(named.Exists("realShiftOptional") ? "realShift" : "pseShift")),
      mask_(named.Tensor("attenMask")),
      dropMask_(named.Tensor("dropMask")) {
    for (const auto& [name, tensor] : {std::pair<const char*, at::Tensor>("query", query_),
                                       std::pair<const char*, at::Tensor>("key", key_),
                                       std::pair<const char*, at::Tensor>("value", value_)}) {
        TORCH_CHECK_VALUE(at::isFloatingType(tensor.scalar_type()) &&
                              tensor.scalar_type() == query_.scalar_type(),
                          name, " has dtype ", tensor.scalar_type(),
                          "; expected FLOAT16, BF16 or FLOAT, the same for query, key and value");
    }
    ReadOptions(named);
    ReadLayout(named);
}

void FlashCall::ReadOptions(const Named& named) {
    named.Refuse({"paddingMask"});
    TORCH_CHECK_VALUE(named.Ints("prefix").empty() && named.Ints("qStartIdx").empty() &&
                          named.Ints("kvStartIdx").empty(),
                      "prefixOptional, qStartIdxOptional or kvStartIdxOptional has numbers; "
                      "expected none: what they ask for is not computed on this device");
    scale_ = named.Real("scaleValue");
    keepProb_ = named.Real("keepProb");
    before_ = named.Int("preTokens");
    after_ = named.Int("nextTokens");
    heads_ = named.Int("headNum");
    sparseMode_ = named.Int("sparseMode");
    pseType_ = named.Int("pseType", 1);
    layout_ = named.Text("inputLayout");
    CheckNumber("sparseMode", sparseMode_, 0, 4);
    CheckNumber("pseType", pseType_, 0, 1);
    TORCH_CHECK_VALUE(heads_ > 0, "headNum is ", heads_, "; expected at least 1");
    TORCH_CHECK_VALUE(keepProb_ > 0 && keepProb_ <= 1 && (keepProb_ == 1 || dropMask_.defined()),
                      "keepProb is ", keepProb_,
                      "; expected more than 0, and 1 if dropMaskOptional is null");
    for (const char* name : {"softmaxOutLayout", "softmaxInLayout"}) {
        const std::string text = named.Text(name, "TND");
        TORCH_CHECK_VALUE(text == "TND" || text == "same_as_input", name, " is ", text,
                          "; expected TND or same_as_input");
    }
}

void FlashCall::ReadLayout(const Named& named) {
    const bool isVarlen = named.Exists("actualSeqQLenOptional");
    const bool known =
        isVarlen ? layout_ == "TND"
                 : layout_ == "BSH" || layout_ == "SBH" || layout_ == "BSND" || layout_ == "BNSD";
    TORCH_CHECK_VALUE(known, "inputLayout is ", layout_, "; expected ",
                      isVarlen ? "TND" : "BSH, SBH, BSND or BNSD");
    const int64_t rank = layout_.size() == 4 ? 4 : 3;
    TORCH_CHECK_VALUE(query_.dim() == rank && key_.dim() == rank && value_.dim() == rank,
                      "query, key and value have ", query_.dim(), ", ", key_.dim(), " and ",
                      value_.dim(), " dims; expected ", rank, " in layout ", layout_);
    if (layout_ == "BSH" || layout_ == "SBH") {
        TORCH_CHECK_VALUE(query_.size(2) % heads_ == 0 && query_.size(2) > 0, "headNum is ", heads_,
                          "; expected a divisor of ", query_.size(2), ", the last dim of query");
        const int64_t size = query_.size(2) / heads_;
        TORCH_CHECK_VALUE(key_.size(2) % size == 0, "key has shape ", key_.sizes(),
                          "; expected heads of ", size);
        keyHeads_ = key_.size(2) / size;
    } else {
        const auto axis = static_cast<int64_t>(layout_.find('N'));
        TORCH_CHECK_VALUE(query_.size(axis) == heads_, "headNum is ", heads_, "; expected ",
                          query_.size(axis), ", the heads of query");
        keyHeads_ = key_.size(axis);
    }
    TORCH_CHECK_VALUE(keyHeads_ > 0 && heads_ % keyHeads_ == 0, "key has ", keyHeads_,
                      " heads; expected a divisor of headNum, ", heads_);
    if (isVarlen) {
        queryEnds_ = EndsOf(named, "actualSeqQLenOptional", query_.size(0));
        keyEnds_ = EndsOf(named, "actualSeqKvLenOptional", key_.size(0));
        TORCH_CHECK_VALUE(queryEnds_.size() == keyEnds_.size(), "actualSeqKvLenOptional has ",
                          keyEnds_.size(), " numbers; expected ", queryEnds_.size(),
                          ", as actualSeqQLenOptional has");
        requests_ = static_cast<int64_t>(queryEnds_.size());
        TORCH_CHECK_VALUE(!pse_.defined() && !dropMask_.defined(),
                          "a shift of scores or dropMaskOptional is not null; expected null in "
                          "layout TND: it is not computed on this device");
    } else {
        requests_ = query_.size(layout_ == "SBH" ? 1 : 0);
        TORCH_CHECK_VALUE(key_.size(layout_ == "SBH" ? 1 : 0) == requests_, "key has shape ",
                          key_.sizes(), "; expected ", requests_, " requests, as query has");
    }
    TORCH_CHECK_VALUE(queryRope_.defined() == keyRope_.defined(),
                      "one of queryRope and keyRope is null; expected both or none");
}

at::Tensor FlashCall::Part(const at::Tensor& tensor, int64_t request, bool ofQueries) const {
    const int64_t heads = ofQueries ? heads_ : keyHeads_;
    if (layout_ == "TND") {
        const std::vector<int64_t>& ends = ofQueries ? queryEnds_ : keyEnds_;
        const int64_t begin = BeginOf(ends, request);
        TORCH_CHECK_VALUE(
            tensor.dim() == 3 && tensor.size(1) == heads && tensor.size(0) >= ends.back(),
            "a tensor in layout TND has shape ", tensor.sizes(), "; expected ", ends.back(),
            " tokens and ", heads, " heads");
        return tensor.narrow(0, begin, ends[static_cast<size_t>(request)] - begin).transpose(0, 1);
    }
    if (layout_ == "BNSD") {
        return tensor.select(0, request);
    }
    if (layout_ == "BSND") {
        return tensor.select(0, request).transpose(0, 1);
    }
    const at::Tensor one = tensor.select(layout_ == "SBH" ? 1 : 0, request);
    TORCH_CHECK_VALUE(one.size(1) % heads == 0, "a tensor has shape ", tensor.sizes(),
                      "; expected a last dim that its ", heads, " heads divide");
    return one.reshape({one.size(0), heads, one.size(1) / heads}).transpose(0, 1);
}

at::Tensor FlashCall::Statistic(const at::Tensor& tensor, int64_t request) const {
    CheckShape("the maximum or the sum of softmax", tensor, Statistics().sizes());
    if (layout_ == "TND") {
        return Part(tensor, request, true);
    }
    return tensor.select(0, request);
}

at::Tensor FlashCall::PartOfPse(const at::Tensor& pse, int64_t request) const {
    TORCH_CHECK_VALUE(pse.dim() == 4 && (pse.size(0) == 1 || pse.size(0) == requests_),
                      "the shift of scores has shape ", pse.sizes(), "; expected [", requests_,
                      " or 1, ", heads_, " or 1, queries or 1, keys or 1]");
    return pse.select(0, pse.size(0) == 1 ? 0 : request);
}

at::Tensor FlashCall::Hidden(int64_t request, int64_t queries, int64_t keys) const {
    if (!mask_.defined()) {  // without a mask the sparse mode has no effect
        return {};
    }
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(query_.device());
    const auto band = [&](int64_t before, int64_t after, int64_t shift) {
        const at::Tensor distance = at::sub(at::sub(at::arange(keys, options), shift),
                                            at::arange(queries, options).unsqueeze(1));
        const at::Tensor late = at::gt(distance, std::min(after, kUnlimited));
        return at::logical_or(late, at::lt(distance, -std::min(before, kUnlimited)));
    };
    const bool isCompressed =
        mask_.dim() >= 2 && mask_.size(-1) == kCompressed && mask_.size(-2) == kCompressed;
    if (sparseMode_ >= 2) {
        TORCH_CHECK_VALUE(isCompressed, "attenMaskOptional has shape ", mask_.sizes(),
                          "; expected the triangle of 2048 x 2048 that sparseMode ", sparseMode_,
                          " needs");
        const int64_t shift = sparseMode_ == 2 ? 0 : keys - queries;
        return sparseMode_ == 4 ? band(before_, after_, shift) : band(kUnlimited, 0, shift);
    }
    at::Tensor mask = mask_;
    while (mask.dim() < 4) {
        mask = mask.unsqueeze(mask.dim() == 3 ? 1 : 0);
    }
    TORCH_CHECK_VALUE(mask.dim() == 4 && (mask.size(0) == 1 || mask.size(0) == requests_) &&
                          (mask.size(1) == 1 || mask.size(1) == heads_) &&
                          mask.size(2) >= queries && mask.size(3) >= keys,
                      "attenMaskOptional has shape ", mask_.sizes(), "; expected ", queries, " x ",
                      keys, " positions, for all or each of ", requests_, " requests and ", heads_,
                      " heads");
    mask = mask.select(0, mask.size(0) == 1 ? 0 : request)
               .narrow(1, 0, queries)
               .narrow(2, 0, keys)
               .to(at::kBool);
    return sparseMode_ == 0 ? at::logical_or(mask, band(before_, after_, 0)) : mask;
}

// Bit i % 8 of byte i / 8 says whether the i-th probability of [B, N, Sq, Sk] is kept.
at::Tensor FlashCall::Kept(int64_t request, int64_t queries, int64_t keys) const {
    if (!dropMask_.defined()) {
        return {};
    }
    const int64_t count = heads_ * queries * keys;
    TORCH_CHECK_VALUE(
        dropMask_.scalar_type() == at::kByte && dropMask_.numel() * 8 >= requests_ * count,
        "dropMaskOptional has ", dropMask_.numel(), " elements of ", dropMask_.scalar_type(),
        "; expected a bit for each of the ", requests_ * count, " probabilities, in UINT8");
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(query_.device());
    const at::Tensor places = at::arange(request * count, (request + 1) * count, options);
    const at::Tensor bytes =
        at::index_select(dropMask_.reshape({-1}), 0, at::floor_divide(places, 8)).to(at::kLong);
    const at::Tensor bits =
        at::bitwise_and(at::bitwise_right_shift(bytes, at::remainder(places, 8)), 1);
    return at::div(bits.to(at::kFloat), keepProb_).reshape({heads_, queries, keys});
}

FlashRequest FlashCall::Request(int64_t request) const {
    FlashRequest one;
    one.query = Wide(Part(query_, request, true));
    one.key = Wide(Part(key_, request, false));
    one.value = Wide(Part(value_, request, false));
    if (queryRope_.defined()) {
        one.query = at::cat({one.query, Wide(Part(queryRope_, request, true))}, -1);
        one.key = at::cat({one.key, Wide(Part(keyRope_, request, false))}, -1);
    }
    const int64_t queries = one.query.size(1);
    const int64_t keys = one.key.size(1);
    TORCH_CHECK_VALUE(one.key.size(2) == one.query.size(2) && one.value.size(0) == keyHeads_ &&
                          one.value.size(1) == keys,
                      "a request has query ", one.query.sizes(), ", key ", one.key.sizes(),
                      " and value ", one.value.sizes(), "; expected ", heads_, " and ", keyHeads_,
                      " heads of one size");
    one.hidden = Hidden(request, queries, keys);
    one.kept = Kept(request, queries, keys);
    if (pse_.defined()) {
        const at::Tensor pse = PartOfPse(pse_, request);
        const auto fits = [&](int64_t dim, int64_t size) {
            return pse.size(dim) == 1 || pse.size(dim) == size;
        };
        TORCH_CHECK_VALUE(fits(0, heads_) && fits(1, queries) && fits(2, keys),
                          "the shift of scores has shape ", pse_.sizes(), "; expected [", requests_,
                          ", ", heads_, ", ", queries, ", ", keys, "], or 1 for some of them");
        one.bias = Wide(pse);
    }
    return one;
}

at::Tensor FlashCall::Result() const {
    std::vector<int64_t> shape = query_.sizes().vec();
    const bool joined = layout_ == "BSH" || layout_ == "SBH";
    shape.back() = joined ? value_.size(2) / keyHeads_ * heads_ : value_.size(-1);
    return at::zeros(shape, query_.options().dtype(at::kFloat));
}

at::Tensor FlashCall::Statistics() const {
    std::vector<int64_t> shape;
    if (layout_ == "TND") {
        shape = {query_.size(0), heads_, kRepeats};
    } else {
        const int64_t tokens = layout_ == "BNSD"  ? query_.size(2)
                               : layout_ == "SBH" ? query_.size(0)
                                                  : query_.size(1);
        shape = {requests_, heads_, tokens, kRepeats};
    }
    return at::zeros(shape, query_.options().dtype(at::kFloat));
}

}  // namespace advstep_operators
