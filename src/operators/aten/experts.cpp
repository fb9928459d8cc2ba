// SPDX-License-Identifier: Apache-2.0
// The way of tokens to their experts, and back.

#include "src/operators/aten/experts.h"

#include <limits>

#include "src/operators/aten/rounding.h"
#include "src/operators/aten/routing.h"

namespace advstep_operators {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Returns the first k places of a stable sort by falling scores.
at::Tensor Best(const at::Tensor& scores, int64_t k) {
    return std::get<1>(at::sort(scores, true, -1, true)).narrow(-1, 0, k);
}

// Returns scores whose groups without enough merit are -inf.
at::Tensor OfBestGroups(const Named& named, const at::Tensor& scores) {
    const int64_t groups = named.Int("groupCount");
    const int64_t chosen = named.Int("kGroup");
    const int64_t experts = scores.size(1);
    TORCH_CHECK_VALUE(groups > 0 && experts % groups == 0, "groupCount is ", groups,
                      "; expected a divisor of the ", experts, " experts");
    CheckNumber("kGroup", chosen, 1, groups);
    CheckNumber("groupSelectMode", named.Int("groupSelectMode"), 0, 1);
    if (groups == 1) {
        return scores;
    }
    const int64_t size = experts / groups;
    const at::Tensor grouped = scores.reshape({scores.size(0), groups, size});
    const bool sumsTwo = named.Int("groupSelectMode") == 1;
    TORCH_CHECK_VALUE(!sumsTwo || size >= 2, "groupCount is ", groups,
                      "; expected groups of at least two experts, as groupSelectMode is 1");
    const at::Tensor merit =
        sumsTwo ? at::sum(std::get<0>(at::topk(grouped, 2, -1)), -1) : at::amax(grouped, -1);
    const at::Tensor isChosen = at::scatter(at::zeros_like(merit), 1, Best(merit, chosen), 1.0);
    return at::masked_fill(grouped, at::eq(isChosen, 0).unsqueeze(-1), kLowest)
        .reshape(scores.sizes());
}

}  // namespace

void GateToExperts(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    CheckShape("x", x, {-1, -1});
    const int64_t k = named.Int("k");
    const int64_t norm = named.Int("normType");
    CheckNumber("normType", norm, 0, 1);
    CheckNumber("renorm", named.Int("renorm"), 0, 1);
    CheckNumber("k", k, 1, x.size(1));
    const at::Tensor scores = norm == 0 ? at::softmax(Wide(x), -1) : at::sigmoid(Wide(x));
    at::Tensor merit = scores;
    if (const at::Tensor bias = named.Tensor("bias"); bias.defined()) {
        CheckShape("biasOptional", bias, {x.size(1)});
        merit = at::add(scores, Wide(bias));
    }
    merit = OfBestGroups(named, merit);
    const int64_t groups = named.Int("groupCount");
    TORCH_CHECK_VALUE(k <= x.size(1) / groups * named.Int("kGroup"), "k is ", k,
                      "; expected at most the experts of ", named.Int("kGroup"), " groups");
    const at::Tensor experts = Best(merit, k);
    at::Tensor weights = at::gather(scores, 1, experts);
    if (norm == 1 || named.Int("renorm") == 1) {
        weights = at::div(weights, at::add(at::sum(weights, -1, true), named.Real("eps")));
    }
    named.Put({{"yOut", at::mul(weights, named.Real("routedScalingFactor"))},
               {"expertIdxOut", experts},
               {"outOut", named.Flag("outFlag") ? scores : at::Tensor()}});
}

namespace {

// The way of T * K (token, expert) pairs.
struct Route {
    int64_t tokens = 0;
    int64_t k = 0;
    int64_t first = 0;  // expert here
    int64_t end = 0;
    int64_t rows = 0;    // of the expanded tokens
    at::Tensor experts;  // of each pair
    at::Tensor isHere;   // whether the expert of a pair is
    at::Tensor places;   // the row of each pair; at least `rows`, or -1, if it has none
    at::Tensor order;    // the pair of each row; T * K pairs, in the order of their experts
    at::Tensor source;   // the pair of each row of the result, -1 for none
};

at::Tensor CountsOfExperts(const Route& route) {
    const at::TensorOptions options = at::TensorOptions(at::kLong).device(route.experts.device());
    const at::Tensor numbers = at::arange(route.first, route.end, options);
    return at::sum(at::eq(route.experts.unsqueeze(0), numbers.unsqueeze(1)), 1);
}

// Sets the places of experts with room for so many tokens each.
void SetPlacesWithRoom(Route* route, int64_t capacity) {
    const at::Tensor counts = CountsOfExperts(*route);
    const at::Tensor begins = at::sub(at::cumsum(counts, 0), counts);
    const at::Tensor within = at::sub(route->places, at::index_select(begins, 0, route->experts));
    const at::Tensor fits = at::lt(within, capacity);
    route->places = at::where(fits, at::add(at::mul(route->experts, capacity), within),
                              at::full_like(within, -1));
    route->rows = (route->end - route->first) * capacity;
}

void SetExperts(const Named& named, Route* route) {
    const at::Tensor x = named.Tensor("x");
    const at::Tensor experts = named.Tensor("expertIdx");
    CheckShape("x", x, {-1, -1});
    CheckShape("expertIdx", experts, {x.size(0), -1});
    route->tokens = x.size(0);
    route->k = experts.size(1);
    const int64_t count = named.Int("expertNum");
    const int64_t expertsAtAll = count > 0 ? count : std::numeric_limits<int32_t>::max();
    route->experts = Places("expertIdx", experts, 0, expertsAtAll);
    route->end = count;
    if (const at::IntArrayRef range = named.Ints("activeExpertRange"); !range.empty()) {
        TORCH_CHECK_VALUE(
            range.size() == 2 && range[0] >= 0 && range[0] < range[1] && range[1] <= expertsAtAll,
            "activeExpertRangeOptional is ", range,
            "; expected the first expert, and the one behind the last, of ", count);
        route->first = range[0];
        route->end = range[1];
    }
    route->isHere = at::logical_and(at::ge(route->experts, route->first),
                                    at::lt(route->experts, count > 0 ? route->end : expertsAtAll));
}

Route RouteOf(const Named& named) {
    Route route;
    SetExperts(named, &route);
    const at::Tensor elsewhere = at::full_like(route.experts, std::numeric_limits<int32_t>::max());
    const Sorting sorting = Sorted(at::where(route.isHere, route.experts, elsewhere));
    const int64_t pairs = route.tokens * route.k;
    const int64_t mode = named.Int("dropPadMode");
    const int64_t active = named.Int("activeNum");
    CheckNumber("dropPadMode", mode, 0, 1);
    route.order = sorting.order;
    route.places = sorting.places;
    route.rows = active > 0 ? std::min(active, pairs) : pairs;
    if (mode == 1) {
        const int64_t capacity = named.Int("expertCapacity");
        TORCH_CHECK_VALUE(capacity > 0 && capacity <= std::max<int64_t>(route.tokens, 1),
                          "expertCapacity is ", capacity, "; expected 1 to the ", route.tokens,
                          " tokens, as dropPadMode is 1");
        TORCH_CHECK_VALUE(route.end > 0 && named.Ints("activeExpertRange").empty(), "expertNum is ",
                          route.end,
                          "; expected the number of all experts, and no "
                          "activeExpertRangeOptional, as dropPadMode is 1");
        SetPlacesWithRoom(&route, capacity);
    } else {
        route.places = at::where(route.isHere, route.places, at::full_like(route.places, -1));
    }
    const at::Tensor numbers =
        at::arange(pairs, route.places.options()).unsqueeze(1).to(at::kDouble);
    route.source = at::sub(RowsInto(route.rows, at::add(numbers, 1), route.places), 1)
                       .squeeze(1)
                       .to(at::kLong);
    return route;
}

// Returns the numbers of tokens of experts, as the type asks: ends, counts, or pairs of an expert
// and its count for experts with tokens.
at::Tensor TokensOf(const Route& route, int64_t type) {
    const at::Tensor counts = CountsOfExperts(route);
    if (type == 0) {
        return at::cumsum(counts, 0);
    }
    if (type == 1) {
        return counts;
    }
    const at::Tensor isEmpty = at::eq(counts, 0);
    const at::Tensor order = Sorted(isEmpty.to(at::kLong)).order;
    const at::Tensor numbers = at::where(at::index_select(isEmpty, 0, order), at::zeros_like(order),
                                         at::add(order, route.first));
    return at::stack({numbers, at::index_select(counts, 0, order)}, 1);
}

// Returns the tokens of the rows; no pair gives a row of zeros.
at::Tensor Expanded(const Route& route, const at::Tensor& x) {
    const at::Tensor token = at::floor_divide(route.source, std::max<int64_t>(route.k, 1));
    return RowsAt(x, token);
}

// Puts the rows with their scales, as quantMode asks.
Named::Results ExpandedRows(const Named& named, const Route& route, const at::Tensor& x,
                            at::IntArrayRef shape) {
    const int64_t mode = named.Int("quantMode", -1);
    const at::Tensor scale = named.Tensor("scale");
    const at::Tensor offset = named.Tensor("offset");
    CheckNumber("quantMode", mode, -1, 1);
    at::Tensor rows = Expanded(route, x);
    if (mode == -1) {
        if (!scale.defined()) {
            return {{"expandedXOut", rows.reshape(shape)}};
        }
        CheckShape("scaleOptional", scale, {route.tokens});
        const at::Tensor scales = Expanded(route, scale.unsqueeze(1)).squeeze(1);
        return {{"expandedXOut", rows.reshape(shape)}, {"expandedScaleOut", scales}};
    }
    const at::Tensor isNone = at::lt(route.source, 0);
    const Steps steps = StepsOf(named, "expandedXOut");
    if (mode == 0) {
        TORCH_CHECK_VALUE(
            scale.defined() && scale.numel() == 1 && offset.defined() && offset.numel() == 1,
            "scaleOptional and offsetOptional are not one number each; expected "
            "that, as quantMode is 0");
        rows = at::add(at::mul(rows, Wide(scale).reshape({})), Wide(offset).reshape({}));
        rows = at::masked_fill(rows, isNone.unsqueeze(1), 0);
        return {{"expandedXOut", Rounded(rows, steps).reshape(shape)}};
    }
    if (scale.defined()) {
        TORCH_CHECK_VALUE(scale.dim() == 2 && scale.size(1) == x.size(1) &&
                              (scale.size(0) == 1 || scale.size(0) == route.end - route.first),
                          "scaleOptional has shape ", scale.sizes(), "; expected [1, ", x.size(1),
                          "] or [", route.end - route.first, ", ", x.size(1), "]");
        const at::Tensor expert = at::sub(
            at::index_select(route.experts, 0, at::clamp_min(route.source, 0)), route.first);
        rows =
            at::mul(rows, scale.size(0) == 1 ? Wide(scale)
                                             : RowsAt(scale, at::masked_fill(expert, isNone, -1)));
    }
    const Dynamic dynamic = RoundedByRow(rows, steps);
    return {{"expandedXOut", dynamic.numbers.reshape(shape)}, {"expandedScaleOut", dynamic.scale}};
}

}  // namespace

void RouteToExperts(Call& call) {
    Named named(call);
    const at::Tensor x = named.Tensor("x");
    const Route route = RouteOf(named);
    std::vector<int64_t> shape = {route.rows, x.size(1)};
    if (named.Int("dropPadMode") == 1) {
        shape = {route.end, named.Int("expertCapacity"), x.size(1)};
    }
    Named::Results results = ExpandedRows(named, route, x, shape);
    at::Tensor rowIndex = route.places;
    if (const int64_t type = named.Int("rowIdxType"); type != 0) {
        CheckNumber("rowIdxType", type, 0, 1);
        TORCH_CHECK_VALUE(named.Int("dropPadMode") == 0,
                          "rowIdxType is 1; expected 0, as "
                          "dropPadMode is 1");
        rowIndex = at::where(at::index_select(route.isHere, 0, route.order), route.order,
                             at::full_like(route.order, -1));
    }
    results.emplace_back("expandedRowIdxOut", rowIndex);
    const bool isThird = named.Exists("expertTokensNumType");
    const int64_t flag = named.Int("expertTokensCountOrCumsumFlag");
    CheckNumber("expertTokensCountOrCumsumFlagOptional", flag, 0, 2);
    const bool asks = isThird ? named.Flag("expertTokensNumFlag") : flag != 0;
    const int64_t type = isThird ? named.Int("expertTokensNumType") : flag == 2 ? 1 : 0;
    CheckNumber("expertTokensNumType", type, 0, 2);
    TORCH_CHECK_VALUE(!asks || route.end > 0, "expertNum is ", route.end,
                      "; expected the number of experts, as their tokens are counted");
    if (asks) {
        results.emplace_back("expertTokensCountOrCumsumOut", TokensOf(route, type));
    }
    if (named.Flag("expertTokensBeforeCapacityFlag")) {
        TORCH_CHECK_VALUE(route.end > 0, "expertNum is ", route.end,
                          "; expected the number of experts, as their tokens are counted");
        results.emplace_back("expertTokensBeforeCapacityOut", TokensOf(route, 1));
    }
    named.Put(results);
}

void RouteToExpertsGrad(Call& call) {
    Named named(call);
    at::Tensor gradient = named.Tensor("gradExpandedX");
    const int64_t mode = named.Int("dropPadMode");
    const int64_t k = named.Int("topK");
    CheckNumber("dropPadMode", mode, 0, 1);
    TORCH_CHECK_VALUE(gradient.dim() == (mode == 1 ? 3 : 2), "gradExpandedX has shape ",
                      gradient.sizes(), "; expected ", mode == 1 ? 3 : 2, " dims");
    gradient = gradient.reshape({-1, gradient.size(-1)});
    const at::Tensor index = named.Tensor("expandedRowIdx");
    TORCH_CHECK_VALUE(k > 0 && index.dim() == 1 && index.numel() % k == 0,
                      "expandedRowIdx has "
                      "shape ",
                      index.sizes(), " and topK is ", k, "; expected tokens * topK places");
    const at::Tensor places =
        Places("expandedRowIdx", index, -1, std::numeric_limits<int32_t>::max());
    named.Put({{"out", at::sum(RowsAt(gradient, places).reshape({-1, k, gradient.size(1)}), 1)}});
}

void PermuteTokens(Call& call) {
    Named named(call);
    TORCH_CHECK_VALUE(!named.Flag("paddedMode"), "paddedMode is true; expected false");
    const at::Tensor tokens = named.Tensor("tokens");
    const at::Tensor indices = named.Tensor("indices");
    CheckShape("tokens", tokens, {-1, -1});
    TORCH_CHECK_VALUE(indices.dim() <= 2 && indices.dim() > 0 && indices.size(0) == tokens.size(0),
                      "indices has shape ", indices.sizes(), "; expected [", tokens.size(0),
                      ", topK]");
    const int64_t pairs = indices.numel();
    const int64_t k = indices.dim() == 2 ? indices.size(1) : 1;
    const int64_t wanted = named.Int("numOutTokens");
    const int64_t count = wanted > 0 ? std::min(wanted, pairs) : pairs + wanted;
    TORCH_CHECK_VALUE(wanted >= -pairs, "numOutTokens is ", wanted, "; expected at least ", -pairs);
    const Sorting sorting = Sorted(Places("indices", indices, std::numeric_limits<int32_t>::min(),
                                          std::numeric_limits<int32_t>::max()));
    const at::Tensor kept =
        at::floor_divide(sorting.order.narrow(0, 0, count), std::max<int64_t>(k, 1));
    named.Put({{"permuteTokensOut", at::index_select(tokens, 0, kept)},
               {"sortedIndicesOut", sorting.places}});
}

void PermuteTokensGrad(Call& call) {
    Named named(call);
    TORCH_CHECK_VALUE(!named.Flag("paddedMode"), "paddedMode is true; expected false");
    const at::Tensor gradient = named.Tensor("permutedOutputGrad");
    const at::Tensor index = named.Tensor("sortedIndices");
    const int64_t k = named.Int("numTopk");
    CheckShape("permutedOutputGrad", gradient, {-1, -1});
    TORCH_CHECK_VALUE(k > 0 && index.numel() % k == 0, "numTopk is ", k,
                      "; expected a divisor of the ", index.numel(), " sortedIndices");
    const at::Tensor places =
        Places("sortedIndices", index, 0, std::max<int64_t>(index.numel(), 1));
    named.Put({{"out", at::sum(RowsAt(gradient, places).reshape({-1, k, gradient.size(1)}), 1)}});
}

namespace {

// What an unpermutation reads.
struct Unpermutation {
    at::Tensor rows;    // of each (token, k), zeros for those that were dropped
    at::Tensor places;  // of each (token, k)
    at::Tensor probs;   // [tokens, k, 1], or undefined
    int64_t k = 1;
};

Unpermutation UnpermutationOf(const Named& named, const char* rowsName) {
    TORCH_CHECK_VALUE(!named.Flag("paddedMode"), "paddedMode is true; expected false");
    Unpermutation found;
    const at::Tensor tokens = named.Tensor(rowsName);
    const at::Tensor index = named.Tensor("sortedIndices");
    CheckShape(rowsName, tokens, {-1, -1});
    found.places = Places("sortedIndices", index, 0, std::max<int64_t>(index.numel(), 1));
    if (const at::Tensor probs = named.Tensor("probs"); probs.defined()) {
        TORCH_CHECK_VALUE(probs.dim() == 2 && probs.numel() == index.numel() && probs.size(1) > 0,
                          "probsOptional has shape ", probs.sizes(), "; expected [tokens, topK], ",
                          index.numel(), " numbers");
        found.k = probs.size(1);
        found.probs = Wide(probs).unsqueeze(-1);
    }
    found.rows = RowsAt(tokens, found.places).reshape({-1, found.k, tokens.size(1)});
    return found;
}

}  // namespace

void UnpermuteTokens(Call& call) {
    Named named(call);
    const Unpermutation found = UnpermutationOf(named, "permutedTokens");
    const at::Tensor weighted =
        found.probs.defined() ? at::mul(found.rows, found.probs) : found.rows;
    named.Put({{"out", at::sum(weighted, 1)}});
}

namespace {

// The gradient without probabilities, which needs no rows: torch_npu passes none.
void UnpermuteGradWithoutRows(Named* named) {
    TORCH_CHECK_VALUE(!named->Flag("paddedMode"), "paddedMode is true; expected false");
    TORCH_CHECK_VALUE(!named->Has("probs"),
                      "permuteTokens is null; expected rows, as probsOptional is not null");
    const at::Tensor index = named->Tensor("sortedIndices");
    const at::Tensor places =
        Places("sortedIndices", index, 0, std::max<int64_t>(index.numel(), 1));
    const at::Tensor gradient = named->Tensor("unpermutedTokensGrad");
    CheckShape("unpermutedTokensGrad", gradient, {index.numel(), -1});
    named->Put({{"permutedTokensGradOut", RowsInto(index.numel(), Wide(gradient), places)}});
}

}  // namespace

void UnpermuteTokensGrad(Call& call) {
    Named named(call);
    if (!named.Has("permuteTokens")) {
        UnpermuteGradWithoutRows(&named);
        return;
    }
    const Unpermutation found = UnpermutationOf(named, "permuteTokens");
    const at::Tensor given = named.Tensor("unpermutedTokensGrad");
    CheckShape("unpermutedTokensGrad", given, {found.rows.size(0), found.rows.size(2)});
    const at::Tensor gradient = Wide(given).unsqueeze(1);
    const at::Tensor each = found.probs.defined() ? at::mul(gradient, found.probs)
                                                  : gradient.expand(found.rows.sizes());
    const int64_t count = named.Tensor("permuteTokens").size(0);
    named.Put({{"permutedTokensGradOut",
                RowsInto(count, each.reshape({-1, each.size(-1)}), found.places)},
               {"probsGradOut", found.probs.defined() ? at::sum(at::mul(found.rows, gradient), -1)
                                                      : at::Tensor()}});
}

namespace {

// What experts have made, for each (token, k), and how it is weighted.
struct Finish {
    at::Tensor rows;    // [tokens, k, columns], with the bias of the expert
    at::Tensor isKept;  // [tokens, k, 1]
    at::Tensor scales;  // [tokens, k, 1], or undefined
    at::Tensor places;  // flat
};

Finish FinishOf(const Named& named, const at::Tensor& given, int64_t tokens, bool byColumn) {
    const at::Tensor index = named.Tensor("expandedRowIdx");
    const at::Tensor matrix = given.reshape({-1, given.size(-1)});
    TORCH_CHECK_VALUE(
        index.dim() == 1 && tokens > 0 && index.numel() % tokens == 0 && index.numel() > 0,
        "expandedRowIdx has shape ", index.sizes(), "; expected ", tokens, " tokens * K places");
    const int64_t k = index.numel() / tokens;
    Finish finish;
    finish.places = Places("expandedRowIdx", index, -1, std::numeric_limits<int32_t>::max());
    if (byColumn) {
        finish.places = finish.places.reshape({k, tokens}).t().reshape({-1});
    }
    finish.rows = RowsAt(matrix, finish.places).reshape({tokens, k, matrix.size(1)});
    finish.isKept = at::ge(finish.places, 0).reshape({tokens, k, 1});
    if (const at::Tensor bias = named.Tensor("bias"); bias.defined()) {
        const at::Tensor experts = named.Tensor("expertIdx");
        TORCH_CHECK_VALUE(experts.defined(),
                          "expertIdxOptional is null; expected one, as there is biasOptional");
        CheckShape("expertIdxOptional", experts, {tokens, k});
        CheckShape("biasOptional", bias, {-1, matrix.size(1)});
        const at::Tensor of = RowsAt(bias, Places("expertIdxOptional", experts, 0, bias.size(0)));
        finish.rows = at::add(finish.rows, of.reshape({tokens, k, matrix.size(1)}));
    }
    if (const at::Tensor scales = named.Tensor("scales"); scales.defined()) {
        CheckShape("scalesOptional", scales, {tokens, k});
        finish.scales = Wide(scales).unsqueeze(-1);
    }
    TORCH_CHECK_VALUE(finish.scales.defined() || k == 1,
                      "scalesOptional is null; expected one, as there are ", k,
                      " places for each token");
    return finish;
}

// Returns how many tokens a call has: the rows of scales, or of another of its arguments.
int64_t TokensOfCall(const Named& named) {
    for (const char* name : {"scales", "x1", "gradY"}) {
        if (const at::Tensor tensor = named.Tensor(name); tensor.defined() && tensor.dim() == 2) {
            return tensor.size(0);
        }
    }
    return named.Tensor("expandedRowIdx").numel();
}

}  // namespace

void FinalizeRouting(Call& call) {
    Named named(call);
    const int64_t mode = named.Int("dropPadMode");
    CheckNumber("dropPadMode", mode, 0, 3);
    const at::Tensor given = named.Tensor("expandedX");
    TORCH_CHECK_VALUE(given.dim() == 2 || given.dim() == 3, "expandedX has shape ", given.sizes(),
                      "; expected [rows, columns] or [experts, capacity, columns]");
    const int64_t tokens = TokensOfCall(named);
    const Finish finish = FinishOf(named, given, tokens, mode <= 1);
    at::Tensor each = finish.scales.defined() ? at::mul(finish.rows, finish.scales) : finish.rows;
    each = at::where(finish.isKept, each, at::zeros_like(each));
    at::Tensor out = at::sum(each, 1);
    TORCH_CHECK_VALUE(named.Has("x1") || !named.Has("x2"),
                      "x1Optional is null; expected one, as there is x2Optional");
    for (const char* name : {"x1", "x2"}) {
        if (const at::Tensor more = named.Tensor(name); more.defined()) {
            CheckShape(name, more, out.sizes());
            out = at::add(out, Wide(more));
        }
    }
    named.Put({{"out", out}});
}

void FinalizeRoutingGrad(Call& call) {
    Named named(call);
    const int64_t mode = named.Int("dropPadMode");
    CheckNumber("dropPadMode", mode, 0, 1);
    const at::Tensor gradient = named.Tensor("gradY");
    CheckShape("gradY", gradient, {-1, -1});
    const at::Tensor index = named.Tensor("expandedRowIdx");
    const int64_t tokens = gradient.size(0);
    const int64_t columns = gradient.size(1);
    const int64_t active = named.Int("activeNum");
    const int64_t rows = mode == 1    ? named.Int("expertNum") * named.Int("expertCapacity")
                         : active > 0 ? std::min(active, index.numel())
                                      : index.numel();
    TORCH_CHECK_VALUE(rows >= 0, "expertNum is ", named.Int("expertNum"), " and expertCapacity is ",
                      named.Int("expertCapacity"), "; expected numbers of at least 0");
    const at::Tensor given = named.Tensor("expandedX");
    TORCH_CHECK_VALUE(given.defined() || !named.Has("scales"),
                      "expandedXOptional is null; expected one, as there is scalesOptional");
    const at::Tensor made =
        given.defined() ? given : at::zeros({rows, columns}, Wide(gradient).options());
    TORCH_CHECK_VALUE(made.dim() >= 2 && made.size(-1) == columns && made.numel() == rows * columns,
                      "expandedXOptional has shape ", made.sizes(), "; expected ", rows,
                      " rows of ", columns);
    const Finish finish = FinishOf(named, made, tokens, false);
    const at::Tensor wide = Wide(gradient).unsqueeze(1);
    const at::Tensor each =
        finish.scales.defined() ? at::mul(wide, finish.scales) : wide.expand(finish.rows.sizes());
    at::Tensor into = RowsInto(rows, each.reshape({-1, columns}), finish.places);
    if (mode == 1) {
        into = into.reshape({named.Int("expertNum"), named.Int("expertCapacity"), columns});
    }
    const at::Tensor ofScales = at::sum(at::mul(finish.rows, wide), -1);
    named.Put({{"gradExpandedXOut", into},
               {"gradScalesOut",
                finish.scales.defined()
                    ? at::where(finish.isKept.squeeze(-1), ofScales, at::zeros_like(ofScales))
                    : at::Tensor()}});
}

}  // namespace advstep_operators
