// SPDX-License-Identifier: Apache-2.0
// Products of groups with the matrix of their group.

#include <algorithm>

#include "src/operators/aten/experts.h"
#include "src/operators/aten/groups.h"
#include "src/operators/aten/matrix.h"
#include "src/operators/aten/quant.h"

namespace advstep_operators {
namespace {

constexpr int64_t kNone = -1;  // of group types: each tensor of x has a weight
constexpr int64_t kRows = 0;
constexpr int64_t kColumns = 2;

// The arguments of a call.
struct Grouped {
    std::vector<at::Tensor> x;
    std::vector<at::Tensor> weights;  // of each group
    std::vector<at::Tensor> biases, scales, offsets, antiquantScales, antiquantOffsets;
    std::vector<at::Tensor> rowScales;  // as x
    int64_t type = kNone;
    int64_t activation = 0;
    bool joins = false;           // one tensor of results
    std::vector<int64_t> counts;  // of the rows or columns of each group
};

// Returns the tensors of each group: the members of a list, or the first dim of its only one.
std::vector<at::Tensor> OfGroups(const Named& named, const char* name, size_t groups,
                                 int64_t rank) {
    std::vector<at::Tensor> tensors = named.Tensors(name);
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                                 [](const at::Tensor& one) { return !one.defined(); }),
                  tensors.end());
    if (tensors.size() == 1 && tensors[0].numel() == 0) {
        return {};  // clients pass an empty tensor for none
    }
    if (tensors.size() == 1 && tensors[0].dim() == rank + 1) {
        const at::Tensor whole = tensors[0];
        tensors.clear();
        for (int64_t group = 0; group < whole.size(0); ++group) {
            tensors.push_back(whole.select(0, group));
        }
    }
    TORCH_CHECK_VALUE(tensors.empty() || groups == 0 || tensors.size() == groups, name, " has ",
                      tensors.size(), " tensors; expected ", groups, ", one for each group");
    return tensors;
}

at::Tensor Of(const std::vector<at::Tensor>& tensors, size_t group) {
    return tensors.empty() ? at::Tensor() : tensors[group];
}

// Returns the weight of a group as a factor: (weight + offset) * scale, if it is of whole numbers.
at::Tensor FactorOf(const Grouped& grouped, size_t group) {
    const at::Tensor& weight = grouped.weights[group];
    const at::Tensor factor = Wide(weight);
    if (weight.scalar_type() != at::kChar) {
        return factor;
    }
    const at::Tensor scale = Of(grouped.antiquantScales, group);
    TORCH_CHECK_VALUE(scale.defined(),
                      "antiquantScaleOptional is null; expected one, as the "
                      "weights are whole numbers");
    const bool isGrouped = scale.dim() == 2 && scale.size(0) > 0;
    const int64_t size = isGrouped ? factor.size(0) / scale.size(0) : 0;
    TORCH_CHECK_VALUE(scale.dim() < 2 || (isGrouped && size * scale.size(0) == factor.size(0)),
                      "antiquantScaleOptional has shape ", scale.sizes(),
                      "; expected groups of the ", factor.size(0), " rows of weight");
    const auto ofRows = [&](const at::Tensor& numbers) {
        return size > 0 ? at::repeat_interleave(Wide(numbers), size, 0) : Wide(numbers);
    };
    const at::Tensor more = Of(grouped.antiquantOffsets, group);
    return at::mul(more.defined() ? at::add(factor, ofRows(more)) : factor, ofRows(scale));
}

void CheckOperands(const at::Tensor& x, const at::Tensor& weight, size_t group) {
    TORCH_CHECK_VALUE(x.dim() >= 2 && weight.dim() == 2 && x.size(-1) == weight.size(0), "group ",
                      group, " has x ", x.sizes(), " and weight ", weight.sizes(),
                      "; expected matrices whose product there is");
    const bool whole = x.scalar_type() == at::kChar;
    TORCH_CHECK_VALUE(whole || at::isFloatingType(x.scalar_type()), "x has dtype ", x.scalar_type(),
                      "; expected a floating one, INT8 or INT4");
    TORCH_CHECK_VALUE(!whole || weight.scalar_type() == at::kChar, "weight has dtype ",
                      weight.scalar_type(), "; expected INT8 or INT4, as x has");
}

// Returns the product of the rows of a group, in float32.
at::Tensor ProductOf(const Grouped& grouped, const at::Tensor& x, size_t group,
                     const at::Tensor& rowScale) {
    CheckOperands(x, grouped.weights[group], group);
    const bool whole = x.scalar_type() == at::kChar;
    const at::Tensor bias = Of(grouped.biases, group);
    const bool addsWhole = whole && bias.defined() && bias.scalar_type() == at::kInt;
    const at::Tensor& weight = grouped.weights[group];
    // Product reads a narrow weight where it lies, which decides the time of few rows.
    at::Tensor y = whole ? WholeProduct(x, weight)
                   : x.scalar_type() == weight.scalar_type()
                       ? Product(x, weight)
                       : at::matmul(Wide(x), FactorOf(grouped, group));
    y = addsWhole ? at::add(y, bias) : y;
    y = y.to(at::kFloat);
    at::Tensor offset = Wide(Of(grouped.offsets, group));
    if (const at::Tensor scale = Of(grouped.scales, group); scale.defined()) {
        TORCH_CHECK_VALUE(whole, "scaleOptional is not null; expected null, as x is no INT8");
        y = at::mul(y, ScaleOf(scale).reshape({-1}));
        offset = offset.defined() ? offset : OffsetOf(scale);
    }
    y = rowScale.defined() ? at::mul(y, Wide(rowScale).reshape({-1, 1})) : y;
    y = bias.defined() && !addsWhole ? at::add(y, Wide(bias)) : y;
    return offset.defined() ? at::add(y, offset) : y;
}

at::Tensor Activated(const at::Tensor& y, int64_t activation) {
    switch (activation) {
        case 0:
            return y;
        case 1:
            return at::relu(y);
        case 2:
            return at::gelu(y, "tanh");
        case 4:
            return at::mul(y, at::sigmoid(at::mul(y, 1.702)));
        case 5:
            return at::silu(y);
        default:
            TORCH_CHECK_VALUE(false, "actType is ", activation, "; expected 0, 1, 2, 4 or 5");
    }
}

// Returns the sizes of groups; without data, as if all were of the first group.
std::vector<int64_t> CountsIn(const Named& named, int64_t total, size_t groups) {
    const int64_t type = named.Int("groupListType", kEnds);
    CheckNumber("groupListType", type, kEnds, kPairs);
    const at::Tensor list = named.Tensor("groupList");
    std::vector<int64_t> counts(groups, 0);
    if (!list.defined()) {
        const at::IntArrayRef numbers = named.Ints("groupList");
        TORCH_CHECK_VALUE(numbers.size() == groups, "groupListOptional has ", numbers.size(),
                          " numbers; expected ", groups, ", one for each group");
        return CountsOf("groupListOptional", numbers, kEnds, total);
    }
    const int64_t numbers = static_cast<int64_t>(groups);
    TORCH_CHECK_VALUE(type == kPairs
                          ? list.dim() == 2 && list.size(1) == 2 && list.size(0) <= numbers
                          : list.dim() == 1 && list.size(0) == numbers,
                      "groupListOptional has shape ", list.sizes(),
                      "; expected one number, or "
                      "pair, for each of the ",
                      groups, " groups");
    if (list.is_meta()) {
        counts[0] = total;
        return counts;
    }
    if (type != kPairs) {
        return CountsOf("groupListOptional", list, type, total);
    }
    const at::Tensor pairs = list.to(at::kLong).contiguous();
    const int64_t* const data = pairs.const_data_ptr<int64_t>();
    for (int64_t pair = 0; pair < pairs.size(0) && data[2 * pair + 1] != 0; ++pair) {
        TORCH_CHECK_INDEX(data[2 * pair] >= 0 && data[2 * pair] < numbers &&
                              data[2 * pair + 1] > 0 && data[2 * pair + 1] <= total,
                          "groupListOptional has the pair ", data[2 * pair], ", ",
                          data[2 * pair + 1], " in row ", pair, "; expected a group of 0 to ",
                          numbers - 1, " and at most ", total, " rows");
        counts[static_cast<size_t>(data[2 * pair])] = data[2 * pair + 1];
        total -= data[2 * pair + 1];
    }
    return counts;
}

Grouped Read(const Named& named) {
    named.Refuse({"activationInput", "activationQuantScale", "activationQuantOffset",
                  "activationFeatureOut", "dynQuantScaleOut"});
    CheckNumber("quantGroupSize", named.Int("quantGroupSize"), 0, 0);
    Grouped grouped;
    const int64_t split = named.Int("splitItem");
    CheckNumber("splitItem", split, 0, 3);
    grouped.joins = split >= 2;
    grouped.activation = named.Int("actType");
    grouped.x = named.Tensors("x");
    TORCH_CHECK_VALUE(!grouped.x.empty() && grouped.x[0].defined(),
                      "x has no tensor; expected at least one");
    const bool hasList = named.Tensor("groupList").defined() || !named.Ints("groupList").empty();
    grouped.type = named.Int("groupType", hasList || grouped.x.size() == 1 ? kRows : kNone);
    TORCH_CHECK_VALUE(grouped.type == kNone || grouped.type == kRows || grouped.type == kColumns,
                      "groupType is ", grouped.type, "; expected -1, 0 or 2");
    grouped.weights =
        grouped.type == kColumns ? named.Tensors("weight") : OfGroups(named, "weight", 0, 2);
    for (at::Tensor& weight : grouped.weights) {
        weight = weight.defined() ? Unpacked(weight, weight.scalar_type() == at::kInt) : weight;
    }
    const size_t groups = grouped.weights.size();
    TORCH_CHECK_VALUE(groups > 0 && grouped.weights[0].defined(),
                      "weight has no tensor; expected at least one");
    grouped.biases = OfGroups(named, "bias", groups, 1);
    grouped.scales = OfGroups(named, "scale", groups, 1);
    grouped.offsets = OfGroups(named, "offset", groups, 1);
    const std::vector<at::Tensor> anti = named.Tensors("antiquantScale");
    const bool single = anti.size() == 1 && anti[0].defined() && groups > 1;
    const int64_t rank = single ? anti[0].dim() - 1 : 1;
    grouped.antiquantScales = OfGroups(named, "antiquantScale", groups, rank);
    grouped.antiquantOffsets = OfGroups(named, "antiquantOffset", groups, rank);
    grouped.rowScales = named.Tensors("perTokenScale");
    return grouped;
}

// Returns the results of each group of rows of one tensor, and zeros for the rows behind them.
std::vector<at::Tensor> OfRows(const Grouped& grouped) {
    const at::Tensor& x = grouped.x[0];
    std::vector<at::Tensor> results;
    int64_t begin = 0;
    at::Tensor rowScale = Of(grouped.rowScales, 0);
    TORCH_CHECK_VALUE(!rowScale.defined() || rowScale.numel() == x.size(0),
                      "perTokenScaleOptional has ", rowScale.defined() ? rowScale.numel() : 0,
                      " numbers; expected ", x.size(0), ", one for each row of x");
    for (size_t group = 0; group < grouped.counts.size(); ++group) {
        const int64_t count = grouped.counts[group];
        const at::Tensor scale =
            rowScale.defined() ? rowScale.reshape({-1}).narrow(0, begin, count) : rowScale;
        results.push_back(ProductOf(grouped, x.narrow(0, begin, count), group, scale));
        begin += count;
    }
    if (grouped.joins) {
        const int64_t rest = x.size(0) - begin;
        results.push_back(at::zeros({rest, results[0].size(1)}, results[0].options()));
    }
    return results;
}

// Returns x[:, group] @ weight[group, :] of each group.
at::Tensor OfColumns(const Grouped& grouped) {
    const at::Tensor& x = grouped.x[0];
    const at::Tensor& weight = grouped.weights[0];
    TORCH_CHECK_VALUE(x.dim() == 2 && weight.dim() == 2 && x.size(1) == weight.size(0) &&
                          grouped.weights.size() == 1 && at::isFloatingType(x.scalar_type()),
                      "x and weight are ", x.sizes(), " and ", weight.sizes(),
                      "; expected one matrix each, of floating numbers, as groupType is 2");
    std::vector<at::Tensor> results;
    int64_t begin = 0;
    for (const int64_t count : grouped.counts) {
        results.push_back(
            at::matmul(Wide(x.narrow(1, begin, count)), Wide(weight.narrow(0, begin, count))));
        begin += count;
    }
    return at::stack(results);
}

void PutLists(Call& call, const Named& named, const Grouped& grouped,
              std::vector<at::Tensor> results) {
    const int place = call.PlaceOf(named.Exists("y") ? "y" : "out");
    for (at::Tensor& result : results) {
        result = Activated(result, grouped.activation);
    }
    if (grouped.joins && results.size() > 1) {
        results = {at::cat(results, 0)};
    }
    const std::vector<at::Tensor> outputs = call.Tensors(place);
    for (size_t one = 0; one < results.size() && one < outputs.size(); ++one) {
        const at::ScalarType type =
            outputs[one].defined() ? outputs[one].scalar_type() : at::kFloat;
        results[one] = type == at::kChar ? Rounded(results[one], {}) : results[one];
    }
    call.Put(place, results);
}

}  // namespace

void GroupedMatmul(Call& call) {
    Named named(call);
    Grouped grouped = Read(named);
    if (grouped.x.size() > 1 || grouped.type == kNone) {
        TORCH_CHECK_VALUE(grouped.x.size() == grouped.weights.size() && grouped.type != kColumns,
                          "x has ", grouped.x.size(), " tensors; expected ", grouped.weights.size(),
                          ", as weight has");
        std::vector<at::Tensor> results;
        for (size_t group = 0; group < grouped.x.size(); ++group) {
            TORCH_CHECK_VALUE(grouped.x[group].defined(), "x has no tensor ", group);
            results.push_back(
                ProductOf(grouped, grouped.x[group], group, Of(grouped.rowScales, group)));
        }
        PutLists(call, named, grouped, results);
        return;
    }
    if (grouped.type == kColumns) {
        const at::Tensor list = named.Tensor("groupList");
        const size_t groups = list.defined() && list.dim() > 0 ? static_cast<size_t>(list.size(0))
                                                               : named.Ints("groupList").size();
        TORCH_CHECK_VALUE(groups > 0 && grouped.x[0].dim() == 2,
                          "groupListOptional is null or empty; expected groups of columns of x");
        grouped.counts = CountsIn(named, grouped.x[0].size(1), groups);
        grouped.joins = false;
        PutLists(call, named, grouped, {OfColumns(grouped)});
        return;
    }
    TORCH_CHECK_VALUE(grouped.x[0].dim() == 2, "x has shape ", grouped.x[0].sizes(),
                      "; expected a matrix");
    grouped.counts = CountsIn(named, grouped.x[0].size(0), grouped.weights.size());
    const bool isUnknown = grouped.x[0].is_meta() && named.Tensor("groupList").defined();
    if (isUnknown && !grouped.joins) {  // the list says how many rows each result has
        const std::vector<at::Tensor> outputs =
            call.Tensors(call.PlaceOf(named.Exists("y") ? "y" : "out"));
        int64_t left = grouped.x[0].size(0);
        for (size_t group = 0; group < grouped.counts.size(); ++group) {
            const bool has =
                group < outputs.size() && outputs[group].defined() && outputs[group].dim() == 2;
            grouped.counts[group] = std::min(has ? outputs[group].size(0) : 0, left);
            left -= grouped.counts[group];
        }
    }
    PutLists(call, named, grouped, OfRows(grouped));
}

void GroupedSwigluQuant(Call& call) {
    Named named(call);
    named.Refuse({"bias", "offset"});
    const at::Tensor x = named.Tensor("x");
    const at::Tensor weight = named.Tensor("weight");
    const at::Tensor list = named.Tensor("groupList");
    CheckShape("x", x, {-1, -1});
    CheckShape("weight", weight, {-1, x.size(1), -1});
    const int64_t columns = weight.size(2);
    CheckShape("weightScale", named.Tensor("weightScale"), {weight.size(0), columns});
    CheckShape("xScale", named.Tensor("xScale"), {x.size(0)});
    CheckShape("groupList", list, {weight.size(0)});
    TORCH_CHECK_VALUE(
        x.scalar_type() == at::kChar && weight.scalar_type() == at::kChar && columns % 2 == 0,
        "x and weight have dtypes ", x.scalar_type(), " and ", weight.scalar_type(),
        "; expected INT8, and an even number of columns");
    std::vector<int64_t> counts(static_cast<size_t>(weight.size(0)), 0);
    if (!list.is_meta()) {
        counts = CountsOf("groupList", list, kEnds, x.size(0));
    }
    std::vector<at::Tensor> parts;
    int64_t begin = 0;
    for (size_t group = 0; group < counts.size(); ++group) {
        const auto at = static_cast<int64_t>(group);
        parts.push_back(at::mul(
            WholeProduct(x.narrow(0, begin, counts[group]), weight.select(0, at)).to(at::kFloat),
            ScaleOf(named.Tensor("weightScale")).select(0, at)));
        begin += counts[group];
    }
    parts.push_back(at::zeros({x.size(0) - begin, columns}, Wide(x).options()));
    const at::Tensor y = at::mul(at::cat(parts, 0), Wide(named.Tensor("xScale")).unsqueeze(1));
    const std::vector<at::Tensor> halves = at::chunk(y, 2, -1);
    const Dynamic rows =
        RoundedByRow(at::mul(at::silu(halves.at(0)), halves.at(1)), StepsOf(named, "output"));
    named.Put({{"output", rows.numbers}, {"outputScale", rows.scale}});
}

}  // namespace advstep_operators
