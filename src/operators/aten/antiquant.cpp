// SPDX-License-Identifier: Apache-2.0
// Scales and offsets of keys and values by the modes of attention.

#include "src/operators/aten/antiquant.h"

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

enum Mode : int64_t {
    kChannels = 0,  // or one number for all
    kTokens = 1,
    kHeads = 2,
    kTokensOfHeads = 3,
    kTokensInBlocks = 4,
    kTokensOfHeadsInBlocks = 5,
};

}  // namespace

Antiquant::Antiquant(const Named& named, bool ofValues) {
    const std::string side = ofValues ? "value" : "key";
    TORCH_CHECK_VALUE(named.Has("keyAntiquantScale") == named.Has("valueAntiquantScale") &&
                          named.Has("keyAntiquantOffset") == named.Has("valueAntiquantOffset"),
                      "keyAntiquantScale or valueAntiquantScale, or one of their offsets, is null; "
                      "expected those of both, "
                      "or of none");
    if (named.Has(side + "AntiquantScale")) {
        name_ = side + "AntiquantScale";
        scale_ = Wide(named.Tensor(name_));
        offset_ = Wide(named.Tensor(side + "AntiquantOffset"));
        mode_ = named.Int(side + "AntiquantMode");
        CheckNumber((side + "AntiquantMode").c_str(), mode_, kChannels, kTokensOfHeadsInBlocks);
    } else if (named.Has("antiquantScale")) {
        name_ = "antiquantScale";
        const at::Tensor both = named.Tensor(name_);
        const at::Tensor offsets = named.Tensor("antiquantOffset");
        mode_ = named.Int("antiquantMode");
        CheckNumber("antiquantMode", mode_, kChannels, kTokens);
        TORCH_CHECK_VALUE(both.dim() > 0 && both.size(0) == 2, "antiquantScale has shape ",
                          both.sizes(), "; expected 2 as its first dim, for keys and values");
        TORCH_CHECK_VALUE(!offsets.defined() || offsets.sizes() == both.sizes(),
                          "antiquantOffset has shape ", offsets.sizes(), "; expected ",
                          both.sizes(), ", that of antiquantScale");
        scale_ = Wide(both.select(0, ofValues ? 1 : 0));
        offset_ = offsets.defined() ? Wide(offsets.select(0, ofValues ? 1 : 0)) : at::Tensor();
    } else {
        named.Refuse({"antiquantOffset", "keyAntiquantOffset", "valueAntiquantOffset"});
    }
    TORCH_CHECK_VALUE(!offset_.defined() || offset_.sizes() == scale_.sizes(), name_,
                      " and its offset have shapes ", scale_.sizes(), " and ",
                      offset_.defined() ? offset_.sizes() : at::IntArrayRef(),
                      "; expected the same");
}

at::Tensor Antiquant::Restored(const at::Tensor& x, const KeyPlace& place) const {
    at::Tensor wide = Wide(x);
    if (offset_.defined()) {
        wide = at::add(wide, Part(offset_, x, place));
    }
    return at::mul(wide, Part(scale_, x, place));
}

// Returns the numbers of a request, which broadcast to x.
at::Tensor Antiquant::Part(const at::Tensor& numbers, const at::Tensor& x,
                           const KeyPlace& place) const {
    switch (mode_) {
        case kChannels:
            return OfChannels(numbers, x);
        case kHeads:
            TORCH_CHECK_VALUE(numbers.numel() == x.size(0), name_, " has shape ", numbers.sizes(),
                              "; expected one number for each of the ", x.size(0), " heads");
            return numbers.reshape({-1, 1, 1});
        case kTokens:
        case kTokensOfHeads:
            return OfTokens(numbers, x, place);
        default:
            return OfBlocks(numbers, x, place);
    }
}

at::Tensor Antiquant::OfChannels(const at::Tensor& numbers, const at::Tensor& x) const {
    if (numbers.numel() == 1) {
        return numbers.reshape({});
    }
    TORCH_CHECK_VALUE(numbers.numel() == x.size(0) * x.size(2), name_, " has shape ",
                      numbers.sizes(), "; expected one number, or one for each of the ", x.size(0),
                      " x ", x.size(2), " channels");
    return numbers.reshape({x.size(0), 1, x.size(2)});
}

at::Tensor Antiquant::OfTokens(const at::Tensor& numbers, const at::Tensor& x,
                               const KeyPlace& place) const {
    TORCH_CHECK_VALUE(place.isWhole, name_,
                      " has numbers for tokens; expected numbers for channels or heads, as there "
                      "is a shared prefix or padding, or requests have no dim of their own");
    const bool ofHeads = mode_ == kTokensOfHeads;
    at::Tensor of = numbers;
    if (!ofHeads && of.dim() == 3 && of.size(0) == 1) {
        of = of.select(0, 0);
    }
    const bool fits = of.dim() == (ofHeads ? 3 : 2) && of.size(0) > place.request &&
                      of.size(-1) >= x.size(1) && (!ofHeads || of.size(1) == x.size(0));
    TORCH_CHECK_VALUE(fits, name_, " has shape ", numbers.sizes(), "; expected ",
                      ofHeads ? "[requests, heads, tokens]" : "[requests, tokens]",
                      " with at least ", x.size(1), " tokens for request ", place.request);
    of = of.select(0, place.request).narrow(-1, 0, x.size(1)).unsqueeze(-1);
    return ofHeads ? of : of.unsqueeze(0);
}

at::Tensor Antiquant::OfBlocks(const at::Tensor& numbers, const at::Tensor& x,
                               const KeyPlace& place) const {
    const bool ofHeads = mode_ == kTokensOfHeadsInBlocks;
    TORCH_CHECK_VALUE(place.blocks.defined(), name_,
                      " has numbers for blocks; expected a block table as well");
    const bool fits = numbers.dim() == (ofHeads ? 3 : 2) && numbers.size(0) >= place.blockCount &&
                      numbers.size(-1) == place.blockSize &&
                      (!ofHeads || numbers.size(1) == x.size(0));
    TORCH_CHECK_VALUE(fits, name_, " has shape ", numbers.sizes(), "; expected [", place.blockCount,
                      ofHeads ? ", heads, " : ", ", place.blockSize, "]");
    const at::Tensor chosen = at::index_select(numbers, 0, place.blocks);
    const at::Tensor byToken =
        ofHeads ? chosen.transpose(0, 1).flatten(1, 2) : chosen.flatten(0, 1).unsqueeze(0);
    return byToken.narrow(1, 0, x.size(1)).unsqueeze(-1);
}

}  // namespace advstep_operators
