// SPDX-License-Identifier: Apache-2.0
// Dispatch to experts and combination of their results, of one rank.

#include "src/operators/aten/distribute.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "src/operators/aten/norms.h"
#include "src/operators/aten/rounding.h"
#include "src/operators/aten/routing.h"

namespace advstep_operators {
namespace {

constexpr int64_t kNoRounding = 0;  // of quantMode
constexpr int64_t kRounding = 2;    // by row
constexpr int64_t kTriple = 3;      // rank, token and place among its experts: of a row

// Refuses ranks that would be reached by HCCL, and what has no effect that is known.
void CheckRanks(const Named& named) {
    const int64_t ranks = named.Int("epWorldSize");
    TORCH_CHECK_VALUE(ranks == 1, "epWorldSize is ", ranks,
                      "; expected 1: experts of other ranks are not reached on this device");
    CheckNumber("epRankId", named.Int("epRankId"), 0, 0);
    const int64_t others = named.Int("tpWorldSize");
    TORCH_CHECK_VALUE(others == 0 || others == 1, "tpWorldSize is ", others,
                      "; expected 0 or 1: other ranks are not reached on this device");
    CheckNumber("tpRankId", named.Int("tpRankId"), 0, 0);
    CheckNumber("expertShardType", named.Int("expertShardType"), 0, 0);
    CheckNumber("sharedExpertNum", named.Int("sharedExpertNum"), 0, 1);
    CheckNumber("sharedExpertRankNum", named.Int("sharedExpertRankNum"), 0, 0);
    for (const char* name : {"zeroExpertNum", "copyExpertNum", "constExpertNum"}) {
        TORCH_CHECK_VALUE(named.Int(name) == 0, name, " is ", named.Int(name),
                          "; expected 0: what it asks for is not computed on this device");
    }
    TORCH_CHECK_VALUE(!named.Text("groupEp").empty(),
                      "groupEp is empty; expected the name of a group");
    named.Refuse({"elasticInfo", "oriX", "constExpertAlpha1", "constExpertAlpha2", "constExpertV"});
}

// The tokens of a call, and the pairs of a token and one of its experts.
struct Pairs {
    int64_t tokens = 0;
    int64_t k = 0;
    int64_t experts = 0;  // at all
    at::Tensor isActive;  // of each pair
    at::Tensor expert;    // of each pair; 0 for pairs that are not active

    int64_t count() const { return tokens * k; }
};

Pairs PairsOf(const Named& named) {
    const at::Tensor ids = named.Tensor("expertIds");
    CheckShape("expertIds", ids, {-1, -1});
    Pairs pairs;
    pairs.tokens = ids.size(0);
    pairs.k = ids.size(1);
    pairs.experts = named.Int("moeExpertNum");
    TORCH_CHECK_VALUE(pairs.experts > 0, "moeExpertNum is ", pairs.experts,
                      "; expected at least 1");
    TORCH_CHECK_VALUE(pairs.k > 0 && pairs.k <= pairs.experts, "expertIds has shape ", ids.sizes(),
                      "; expected 1 to ", pairs.experts, " experts of a token, as moeExpertNum is");
    const int64_t most = named.Int("globalBs");
    TORCH_CHECK_VALUE(most == 0 || most >= pairs.tokens, "globalBs is ", most,
                      "; expected 0, or at least the ", pairs.tokens, " tokens");
    pairs.isActive = at::ones(ids.sizes(), ids.options().dtype(at::kBool));
    if (const at::Tensor mask = named.Given("xActiveMask"); mask.defined()) {
        const bool byToken = mask.dim() == 1 && mask.size(0) == pairs.tokens;
        TORCH_CHECK_VALUE(
            mask.scalar_type() == at::kBool && (byToken || mask.sizes() == ids.sizes()),
            "xActiveMask is ", mask.scalar_type(), " of shape ", mask.sizes(),
            "; expected BOOL of [", pairs.tokens, "] or [", pairs.tokens, ", ", pairs.k, "]");
        pairs.isActive = byToken ? mask.unsqueeze(1).expand(ids.sizes()) : mask;
    }
    pairs.expert =
        Places("expertIds", at::where(pairs.isActive, ids, at::zeros_like(ids)), 0, pairs.experts);
    pairs.isActive = pairs.isActive.reshape({-1});
    return pairs;
}

// Where the pairs of a dispatch go.
struct Way {
    int64_t rows = 0;   // of the result, of which the last ones may be of no pair
    at::Tensor places;  // the row of each pair, -1 for none
    at::Tensor within;  // the place of each pair among those of its expert, -1 for none
    at::Tensor order;   // the pair of each row, then pairs that are not active
    at::Tensor counts;  // of the pairs of each expert
    at::Tensor ends;    // of the rows of each expert
};

Way WayOf(const Named& named, const Pairs& pairs) {
    Way way;
    const int64_t most = std::max(named.Int("globalBs"), pairs.tokens);
    way.rows = most * std::min(pairs.k, pairs.experts);
    const at::Tensor none = at::full_like(pairs.expert, -1);
    const Sorting sorting =
        Sorted(at::where(pairs.isActive, pairs.expert, at::full_like(pairs.expert, pairs.experts)));
    way.order = sorting.order;
    way.places = at::where(pairs.isActive, sorting.places, none);
    const at::Tensor numbers = at::arange(pairs.experts, pairs.expert.options()).unsqueeze(1);
    const at::Tensor isOf =
        at::logical_and(at::eq(pairs.expert.unsqueeze(0), numbers), pairs.isActive.unsqueeze(0));
    way.counts = at::sum(isOf, 1);
    way.ends = at::cumsum(way.counts, 0);
    const at::Tensor begins = at::index_select(at::sub(way.ends, way.counts), 0, pairs.expert);
    way.within = at::where(pairs.isActive, at::sub(way.places, begins), none);
    return way;
}

// Returns [rank, token, place among its experts] of each row in as many numbers as the output has.
at::Tensor Triples(const Named& named, const char* output, const Pairs& pairs, const Way& way) {
    const at::Tensor out = named.Tensor(output);
    const int64_t filled = kTriple * pairs.count();
    TORCH_CHECK_VALUE(out.numel() >= filled, output, " has shape ", out.sizes(),
                      "; expected at least ", filled, " numbers");
    const at::Tensor triples =
        at::stack({at::zeros_like(way.order), at::floor_divide(way.order, pairs.k),
                   at::remainder(way.order, pairs.k)},
                  1);
    const at::Tensor isRow =
        at::lt(at::arange(pairs.count(), way.order.options()), at::sum(way.counts));
    const at::Tensor kept = at::masked_fill(triples, at::logical_not(isRow).unsqueeze(1), 0);
    return at::constant_pad_nd(kept.reshape({-1}), {0, out.numel() - filled}).reshape(out.sizes());
}

struct Rows {
    at::Tensor rows;
    at::Tensor scale;  // of rounded rows
};

// Returns the rows of pairs, as quantMode asks.
Rows RowsOfPairs(const Named& named, const char* output, const Pairs& pairs) {
    const at::Tensor x = named.Tensor("x");
    CheckShape("x", x, {pairs.tokens, -1});
    const at::Tensor scales = named.Given("scales");
    const int64_t mode = named.Int("quantMode");
    TORCH_CHECK_VALUE(mode == kNoRounding || mode == kRounding, "quantMode is ", mode,
                      "; expected 0, or 2 for INT8 by row");
    const at::Tensor rows = at::repeat_interleave(x, pairs.k, 0);
    if (mode == kNoRounding) {
        TORCH_CHECK_VALUE(!scales.defined(),
                          "scales is not null; expected null, as quantMode is 0");
        const at::ScalarType dtype = named.Tensor(output).scalar_type();
        TORCH_CHECK_TYPE(dtype == x.scalar_type(), output, " has dtype ", dtype,
                         "; expected that of x, ", x.scalar_type(), ", as quantMode is 0");
        return {rows, {}};
    }
    const aclDataType dtype = named.View(output)->dataType;
    TORCH_CHECK_TYPE(dtype == ACL_INT8, output, " has dtype ", advstepDataTypeName(dtype),
                     "; expected INT8, as quantMode is 2");
    at::Tensor wide = Wide(rows);
    if (scales.defined()) {
        CheckShape("scales", scales, {pairs.experts, x.size(1)});
        wide = at::mul(wide, at::index_select(Wide(scales), 0, pairs.expert));
    }
    const Dynamic rounded = RoundedByRow(wide, Steps());
    return {rounded.numbers, rounded.scale};
}

// Returns numbers of pairs as numbers of rows.
at::Tensor NumbersInto(const Way& way, const at::Tensor& numbers) {
    return RowsInto(way.rows, numbers.reshape({-1, 1}), way.places).squeeze(1);
}

}  // namespace

void DispatchTokens(Call& call) {
    Named named(call);
    CheckRanks(named);
    const bool isFirst = named.Exists("expandIdx");  // version 1
    const char* const out = isFirst ? "expandX" : "expandXOut";
    const Pairs pairs = PairsOf(named);
    const Way way = WayOf(named, pairs);
    const Rows rows = RowsOfPairs(named, out, pairs);
    const int64_t type = named.Int("expertTokenNumsType");
    CheckNumber("expertTokenNumsType", type, 0, 1);
    const char* const others = isFirst ? "tpRecvCounts" : "tpRecvCountsOut";
    const at::Tensor ofOthers = named.Given(others);
    Named::Results results = {
        {out, RowsInto(way.rows, rows.rows, way.places)},
        {isFirst ? "dynamicScales" : "dynamicScalesOut",
         rows.scale.defined() ? NumbersInto(way, rows.scale) : at::Tensor()},
        {isFirst ? "expertTokenNums" : "expertTokenNumsOut", type == 0 ? way.ends : way.counts},
        {isFirst ? "epRecvCounts" : "epRecvCountsOut", way.ends},
        {others, ofOthers.defined() ? at::sum(way.counts).reshape({1}) : at::Tensor()}};
    if (isFirst) {
        results.emplace_back("expandIdx", way.within);
    } else {
        results.emplace_back("assistInfoForCombineOut",
                             Triples(named, "assistInfoForCombineOut", pairs, way));
    }
    if (const at::Tensor scales = named.Given("expertScales"); scales.defined()) {
        CheckShape("expertScales", scales, {pairs.tokens, pairs.k});
        results.emplace_back(isFirst ? "expandScales" : "expandScalesOut",
                             NumbersInto(way, Wide(scales)));
    }
    named.Put(results);
}

namespace {

// Returns the row of each pair by its place among those of its expert, -1 for pairs without one.
at::Tensor PlacesWithin(const Named& named, const Pairs& pairs, const at::Tensor& ends) {
    const at::Tensor given = named.Tensor("expandIdx");
    CheckShape("expandIdx", given, {pairs.count()});
    const at::Tensor within = given.to(at::kLong);
    const at::Tensor begins = at::constant_pad_nd(ends.narrow(0, 0, pairs.experts - 1), {1, 0});
    const at::Tensor places = at::add(at::index_select(begins, 0, pairs.expert), within);
    const at::Tensor fits =
        at::logical_and(at::ge(within, 0), at::lt(places, at::index_select(ends, 0, pairs.expert)));
    return at::where(fits, places, at::full_like(places, -1));
}

// Returns the row of each pair by the triples of rows, -1 for pairs without one.
at::Tensor PlacesOfTriples(const Named& named, const Pairs& pairs, const at::Tensor& ends,
                           int64_t rows) {
    const at::Tensor given = named.Tensor("assistInfoForCombine");
    const int64_t known = std::min(rows, pairs.count());
    TORCH_CHECK_VALUE(given.numel() >= kTriple * known, "assistInfoForCombine has shape ",
                      given.sizes(), "; expected at least ", kTriple * known, " numbers");
    const at::Tensor triples =
        given.reshape({-1}).narrow(0, 0, kTriple * known).reshape({known, kTriple}).to(at::kLong);
    const at::Tensor token = triples.select(1, 1);
    const at::Tensor choice = triples.select(1, 2);
    const at::Tensor numbers = at::arange(known, ends.options());
    const at::Tensor isPair = at::logical_and(
        at::logical_and(at::eq(triples.select(1, 0), 0), at::lt(numbers, ends.select(0, -1))),
        at::logical_and(at::logical_and(at::ge(token, 0), at::lt(token, pairs.tokens)),
                        at::logical_and(at::ge(choice, 0), at::lt(choice, pairs.k))));
    const at::Tensor pair = at::where(isPair, at::add(at::mul(token, pairs.k), choice),
                                      at::full_like(token, pairs.count()));
    return at::sub(RowsInto(pairs.count(), at::add(numbers, 1).unsqueeze(1), pair), 1).squeeze(1);
}

// Refuses an active pair without a row.
void CheckRows(const char* name, const Pairs& pairs, const at::Tensor& places) {
    if (places.is_meta()) {
        return;
    }
    const at::Tensor lost = at::nonzero(at::logical_and(pairs.isActive, at::lt(places, 0)));
    TORCH_CHECK_INDEX(lost.numel() == 0, name, " has no row for token ",
                      lost[0].item<int64_t>() / pairs.k, " and its expert ",
                      lost[0].item<int64_t>() % pairs.k,
                      "; expected what the dispatch of these tokens gave");
}

// Returns the weighted sums of tokens, [tokens, H], in float32.
at::Tensor Combined(const Named& named) {
    CheckRanks(named);
    named.Refuse({"activationScale", "weightScale", "groupList"});
    CheckNumber("outDtype", named.Int("outDtype"), 0, 0);
    CheckNumber("commQuantMode", named.Int("commQuantMode"), 0, 0);
    CheckNumber("groupListType", named.Int("groupListType"), 0, 0);
    const Pairs pairs = PairsOf(named);
    const at::Tensor made = named.Tensor("expandX");
    CheckShape("expandX", made, {-1, -1});
    TORCH_CHECK_TYPE(at::isFloatingType(made.scalar_type()), "expandX has dtype ",
                     made.scalar_type(), "; expected FLOAT16, BF16 or FLOAT");
    const at::Tensor counts = named.Tensor("epSendCounts");
    CheckShape("epSendCounts", counts, {pairs.experts});
    const at::Tensor ends = Places("epSendCounts", counts, 0, made.size(0) + 1);
    const bool isFirst = named.Exists("expandIdx");
    const at::Tensor places = isFirst ? PlacesWithin(named, pairs, ends)
                                      : PlacesOfTriples(named, pairs, ends, made.size(0));
    CheckRows(isFirst ? "expandIdx" : "assistInfoForCombine", pairs, places);
    const at::Tensor scales = named.Tensor("expertScales");
    CheckShape("expertScales", scales, {pairs.tokens, pairs.k});
    const at::Tensor active = at::where(pairs.isActive, places, at::full_like(places, -1));
    const at::Tensor rows = RowsAt(made, active).reshape({pairs.tokens, pairs.k, made.size(1)});
    at::Tensor sums = at::sum(at::mul(rows, Wide(scales).unsqueeze(-1)), 1);
    if (const at::Tensor shared = named.Given("sharedExpertX"); shared.defined()) {
        TORCH_CHECK_VALUE(shared.numel() == sums.numel() && shared.size(-1) == sums.size(1),
                          "sharedExpertX has shape ", shared.sizes(), "; expected ", sums.sizes());
        sums = at::add(sums, Wide(shared).reshape(sums.sizes()));
    }
    return sums;
}

}  // namespace

void CombineTokens(Call& call) {
    Named named(call);
    named.Put({{named.Exists("xOut") ? "xOut" : "x", Combined(named)}});
}

void CombineTokensAddRmsNorm(Call& call) {
    Named named(call);
    const at::Tensor residual = named.Tensor("residualX");
    const at::Tensor sums = Combined(named);
    TORCH_CHECK_VALUE(residual.numel() == sums.numel() && residual.size(-1) == sums.size(1),
                      "residualX has shape ", residual.sizes(), "; expected ", sums.sizes());
    const at::Tensor gamma = named.Tensor("gamma");
    CheckShape("gamma", gamma, {sums.size(1)});
    const auto [y, rstd, x] = AddRmsNorm(sums.to(residual.scalar_type()).reshape(residual.sizes()),
                                         residual, gamma, named.Real("normEps"));
    named.Put({{"yOut", y}, {"rstdOut", rstd}, {"xOut", x}});
}

void WaitForRanks(Call& call) {
    Named named(call);
    const int64_t ranks = named.Int("worldSize");
    TORCH_CHECK_VALUE(ranks == 1, "worldSize is ", ranks,
                      "; expected 1: other ranks are not reached on this device");
    TORCH_CHECK_VALUE(!named.Text("group").empty(), "group is empty; expected the name of a group");
    named.Refuse({"elasticInfo"});
}

}  // namespace advstep_operators
