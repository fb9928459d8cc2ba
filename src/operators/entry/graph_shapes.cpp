// SPDX-License-Identifier: Apache-2.0
// Views of tensors with other shapes and of parts of them, and sizes of outputs.

#include "src/operators/entry/graph_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

namespace advstep_operators {
namespace {

using Dims = std::vector<int64_t>;

Dims DimsOf(const aclTensor* tensor) {
    const AdvStepTensorView view = ViewOf(tensor);
    return {view.dims, view.dims + view.rank};
}

Dims StridesOf(const Dims& dims) {
    Dims strides(dims.size(), 1);
    for (size_t axis = dims.size(); axis-- > 1;) {
        (void)__builtin_mul_overflow(strides[axis], std::max<int64_t>(dims[axis], 1),
                                     &strides[axis - 1]);
    }
    return strides;
}

std::string TextOfDims(const Dims& dims) { return TextOf(NumberList{dims.data(), dims.size()}); }

// Returns the number of elements of dims that are not negative. The tensor has fewer than 2^63
// bytes, so that an overflow is a number that it has not.
int64_t CountOf(const Dims& dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) {
        if (__builtin_mul_overflow(count, dim, &count)) {
            return -1;
        }
    }
    return count;
}

const aclTensor* Contiguous(GraphNode& node, const aclTensor* x, const Dims& dims) {
    return node.View(x, dims, StridesOf(dims), 0);
}

void RequireCount(const NumberList& list, size_t count, const char* of) {
    if (list.count != count) {
        RefuseNode(std::string(list.name) + " has " + std::to_string(list.count) +
                   " numbers; expected " + std::to_string(count) + ", " + of);
    }
}

// The part of one dim that a strided slice takes.
struct Taken {
    int64_t first;  // the least place
    int64_t count;
};

// Takes begin to end by steps from a dim; without a begin or an end, from or to its edge. Numbers
// beyond the dim are cut to it. The count is that of a slice whose last step may be cut short.
Taken Take(int64_t dim, std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step) {
    const int64_t least = step > 0 ? 0 : -1;
    const int64_t most = step > 0 ? dim : dim - 1;
    const auto cut = [&](int64_t place) {
        return std::clamp<int64_t>(place < 0 ? place + dim : place, least, most);
    };
    const int64_t first = begin ? cut(*begin) : step > 0 ? least : most;
    const int64_t last = end ? cut(*end) : step > 0 ? most : least;
    const auto length =
        static_cast<uint64_t>(std::max<int64_t>(step > 0 ? last - first : first - last, 0));
    const auto size = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    const auto count = static_cast<int64_t>(length / size + (length % size != 0 ? 1 : 0));
    return {step > 0 || count == 0 ? std::max<int64_t>(first, 0) : first + (count - 1) * step,
            count};
}

}  // namespace

int64_t AxisOf(const char* name, int64_t axis, int64_t rank) {
    if (axis < -rank || axis >= rank) {
        RefuseNode(std::string(name) + " is " + std::to_string(axis) + "; expected " +
                   std::to_string(-rank) + " to " + std::to_string(rank - 1));
    }
    return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> RankOf(const NumberList& dims) { return {static_cast<int64_t>(dims.count)}; }

std::vector<int64_t> SizeOf(const NumberList& dims) {
    return {CountOf(Dims(dims.begin(), dims.end()))};
}

std::vector<int64_t> IndexOf(const std::vector<int64_t>& numbers, int64_t dtype) {
    if (dtype != ACL_INT32 && dtype != ACL_INT64) {
        RefuseNode("dtype is " + std::to_string(dtype) + "; expected 3 (INT32) or 9 (INT64)");
    }
    const bool isWide = dtype == ACL_INT64;
    for (const int64_t number : numbers) {
        if (!isWide && number > std::numeric_limits<int32_t>::max()) {
            RefuseNode("dtype is 3 (INT32); expected 9 (INT64), as a result is " +
                       std::to_string(number));
        }
    }
    return numbers;
}

const aclTensor* Reshaped(GraphNode& node, const aclTensor* x, const NumberList& shape) {
    Dims dims(shape.begin(), shape.end());
    const Dims before = DimsOf(x);
    const int64_t count = CountOf(before);
    const auto open = std::find(dims.begin(), dims.end(), -1);
    if (open != dims.end()) {
        *open = 1;
        const int64_t others = CountOf(dims);
        *open = others > 0 && count % others == 0 ? count / others : -1;
    }
    if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; }) ||
        CountOf(dims) != count) {
        RefuseNode(std::string(shape.name) + " is " + TextOf(shape) + "; expected a shape of the " +
                   std::to_string(count) + " elements of " + TextOfDims(before) +
                   ", of which one dim may be -1");
    }
    return Contiguous(node, x, dims);
}

const aclTensor* WithAxes(GraphNode& node, const aclTensor* x, const NumberList& axes) {
    Dims dims = DimsOf(x);
    const auto rank = static_cast<int64_t>(dims.size() + axes.count);
    Dims places;
    for (const int64_t axis : axes) {
        places.push_back(AxisOf(axes.name, axis, rank));
    }
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) {
        RefuseNode(std::string(axes.name) + " is " + TextOf(axes) + "; expected different axes");
    }
    for (const int64_t place : places) {
        dims.insert(dims.begin() + place, 1);
    }
    return Contiguous(node, x, dims);
}

const aclTensor* Squeezed(GraphNode& node, const aclTensor* x, const NumberList& axes) {
    const Dims dims = DimsOf(x);
    std::vector<bool> isDropped(dims.size(), false);
    for (const int64_t axis : axes) {
        const auto place =
            static_cast<size_t>(AxisOf(axes.name, axis, static_cast<int64_t>(dims.size())));
        if (dims[place] != 1) {
            RefuseNode(std::string(axes.name) + " has " + std::to_string(axis) +
                       "; expected an axis of size 1, and x is " + TextOfDims(dims));
        }
        isDropped[place] = true;
    }
    Dims kept;
    for (size_t place = 0; place < dims.size(); ++place) {
        if (!isDropped[place] && (axes.count > 0 || dims[place] != 1)) {
            kept.push_back(dims[place]);
        }
    }
    return Contiguous(node, x, kept);
}

const aclTensor* Flattened(GraphNode& node, const aclTensor* x, int64_t axis, int64_t end) {
    const Dims dims = DimsOf(x);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t first = AxisOf("axis", axis, rank);
    const int64_t last = AxisOf("end_axis", end, rank);
    if (last < first) {
        RefuseNode("end_axis is " + std::to_string(end) +
                   "; expected no axis before axis, which is " + std::to_string(axis));
    }
    Dims made(dims.begin(), dims.begin() + first);
    made.push_back(CountOf(Dims(dims.begin() + first, dims.begin() + last + 1)));
    made.insert(made.end(), dims.begin() + last + 1, dims.end());
    return Contiguous(node, x, made);
}

const aclTensor* AsMatrix(GraphNode& node, const aclTensor* x, int64_t axis) {
    const Dims dims = DimsOf(x);
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t place = axis == rank ? rank : AxisOf("axis", axis, rank);
    return Contiguous(node, x,
                      {CountOf(Dims(dims.begin(), dims.begin() + place)),
                       CountOf(Dims(dims.begin() + place, dims.end()))});
}

const aclTensor* PartOf(GraphNode& node, const aclTensor* x, const NumberList& offsets,
                        const NumberList& size) {
    const Dims dims = DimsOf(x);
    RequireCount(offsets, dims.size(), "one for each dim of x");
    RequireCount(size, dims.size(), "one for each dim of x");
    const Dims strides = StridesOf(dims);
    Dims made(size.begin(), size.end());
    int64_t offset = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
        const int64_t begin = offsets.values[axis];
        const bool isInside = begin >= 0 && begin <= dims[axis];
        made[axis] = made[axis] == -1 && isInside ? dims[axis] - begin : made[axis];
        if (!isInside || made[axis] < 0 || made[axis] > dims[axis] - begin) {
            RefuseNode(std::string(offsets.name) + " is " + TextOf(offsets) + " and " + size.name +
                       " is " + TextOf(size) + "; expected a part of x, which is " +
                       TextOfDims(dims));
        }
        offset += begin * strides[axis];
    }
    return node.View(x, made, strides, CountOf(made) > 0 ? offset : 0);
}

bool IsForward(const NumberList& strides) {
    return std::all_of(strides.begin(), strides.end(), [](int64_t step) { return step >= 0; });
}

namespace {

bool Has(int64_t mask, uint64_t place) { return (mask >> place & 1) != 0; }

// Collects the dims of a strided slice, and those of x that they take in order.
class Slicing {
 public:
    explicit Slicing(const Dims& dims) : dims_(dims), steps_(StridesOf(dims)) {}

    void Keep(size_t count) {
        for (; count > 0 && axis_ < dims_.size(); --count, ++axis_) {
            made.push_back(dims_[axis_]);
            strides.push_back(steps_[axis_]);
        }
    }
    void Insert() {
        made.push_back(1);
        strides.push_back(1);
    }
    void Shrink(int64_t begin) {
        offset += AxisOf("begin", begin, dims_[axis_]) * steps_[axis_];
        ++axis_;
    }
    void Cut(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step) {
        const Taken taken = Take(dims_[axis_], begin, end, step);
        offset += taken.first * steps_[axis_];
        if (step < 0) {
            backward.push_back(static_cast<int64_t>(made.size()));
        }
        made.push_back(taken.count);
        // With two places or more a step is shorter than the dim, so that it has a negative.
        strides.push_back(taken.count > 1 ? std::abs(step) * steps_[axis_] : steps_[axis_]);
        ++axis_;
    }

    Dims made;
    Dims strides;
    Dims backward;
    int64_t offset = 0;

 private:
    const Dims& dims_;
    const Dims steps_;
    size_t axis_ = 0;
};

// Returns how many dims of x the numbers are for.
size_t NamedDims(const NumberList& begin, const SliceMasks& masks, const Dims& dims) {
    uint64_t named = begin.count > 32 ? begin.count : 0;
    for (uint64_t place = 0; named < 32 && place < begin.count; ++place) {
        named += !Has(masks.ellipsis, place) && !Has(masks.newAxis, place) ? 1 : 0;
    }
    if (named > dims.size() || (masks.ellipsis & (masks.ellipsis - 1)) != 0) {
        RefuseNode("begin is " + TextOf(begin) + " and ellipsis_mask " +
                   std::to_string(masks.ellipsis) +
                   "; expected at most one number for each dim of x, which is " + TextOfDims(dims) +
                   ", and one ellipsis");
    }
    return named;
}

}  // namespace

StridedPart StridedPartOf(GraphNode& node, const aclTensor* x, const NumberList& begin,
                          const NumberList& end, const NumberList& strides,
                          const SliceMasks& masks) {
    const Dims dims = DimsOf(x);
    RequireCount(end, begin.count, "as begin has");
    RequireCount(strides, begin.count, "as begin has");
    const size_t named = NamedDims(begin, masks, dims);
    Slicing slicing(dims);
    for (uint64_t place = 0; place < begin.count; ++place) {
        if (Has(masks.ellipsis, place)) {
            slicing.Keep(dims.size() - named);
            continue;
        }
        if (Has(masks.newAxis, place)) {
            slicing.Insert();
            continue;
        }
        const int64_t step = strides.values[place];
        const bool isOne = Has(masks.shrinkAxis, place);
        if (step == 0 || (isOne && step < 0)) {
            RefuseNode("strides is " + TextOf(strides) +
                       "; expected numbers that are not 0, and with a bit of shrink_axis_mask more "
                       "than 0");
        }
        if (isOne) {
            slicing.Shrink(begin.values[place]);
        } else {
            slicing.Cut(Has(masks.begin, place) ? std::nullopt : std::optional(begin.values[place]),
                        Has(masks.end, place) ? std::nullopt : std::optional(end.values[place]),
                        step);
        }
    }
    slicing.Keep(dims.size());
    const int64_t offset = CountOf(slicing.made) > 0 ? slicing.offset : 0;
    return {node.View(x, slicing.made, slicing.strides, offset), slicing.backward};
}

std::vector<int64_t> EqualParts(GraphNode& node, const aclTensor* x, int64_t axis,
                                const TensorRun& outputs) {
    const Dims dims = DimsOf(x);
    const int64_t place = AxisOf("split_dim", axis, static_cast<int64_t>(dims.size()));
    const auto count = static_cast<int64_t>(outputs.count);
    const int64_t size = dims[static_cast<size_t>(place)];
    if (size % count != 0) {
        RefuseNode("num_split is " + std::to_string(count) + "; expected a divisor of " +
                   std::to_string(size) + ", the size of axis " + std::to_string(axis));
    }
    const Dims sizes(outputs.count, size / count);
    return GivenParts(node, x, {sizes.data(), sizes.size(), "size_splits"}, axis, outputs);
}

std::vector<int64_t> GivenParts(GraphNode& node, const aclTensor* x, const NumberList& sizes,
                                int64_t axis, const TensorRun& outputs) {
    Dims dims = DimsOf(x);
    const auto place =
        static_cast<size_t>(AxisOf("split_dim", axis, static_cast<int64_t>(dims.size())));
    const int64_t whole = dims[place];
    RequireCount(sizes, outputs.count, "one for each output");
    Dims made(sizes.begin(), sizes.end());
    int64_t sum = 0;
    int64_t open = 0;
    for (const int64_t size : made) {
        open += size == -1 ? 1 : 0;
        sum = size >= -1 && size <= whole && sum <= whole ? sum + std::max<int64_t>(size, 0)
                                                          : whole + 1;
    }
    if (open > 1 || sum > whole || (open == 0 && sum != whole)) {
        RefuseNode(std::string(sizes.name) + " is " + TextOf(sizes) + "; expected sizes of " +
                   std::to_string(whole) + " in all, of which one may be -1");
    }
    std::replace(made.begin(), made.end(), int64_t{-1}, whole - sum);
    for (uint64_t output = 0; output < outputs.count; ++output) {
        dims[place] = made[output];
        node.Sized(outputs.first[output], dims);
    }
    return made;
}

std::vector<const aclTensor*> Unpacked(GraphNode& node, const aclTensor* x, int64_t axis,
                                       const TensorRun& outputs) {
    Dims dims = DimsOf(x);
    const auto place = static_cast<size_t>(AxisOf("axis", axis, static_cast<int64_t>(dims.size())));
    if (dims[place] != static_cast<int64_t>(outputs.count)) {
        RefuseNode("num is " + std::to_string(outputs.count) + "; expected " +
                   std::to_string(dims[place]) + ", the size of axis " + std::to_string(axis));
    }
    Dims wide = dims;
    wide[place] = 1;
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(place));
    std::vector<const aclTensor*> views;
    for (uint64_t output = 0; output < outputs.count; ++output) {
        views.push_back(Contiguous(node, node.Sized(outputs.first[output], dims), wide));
    }
    return views;
}

TensorRun ProductsOf(GraphNode& node, const TensorRun& x, const TensorRun& weight,
                     const TensorRun& y, int64_t groupType, const aclTensor* groups) {
    if (y.count != 1 && y.count != x.count) {
        RefuseNode("y has " + std::to_string(y.count) + " tensors; expected one, or " +
                   std::to_string(x.count) + " as x has");
    }
    Dims made;
    for (uint64_t place = 0; place < x.count; ++place) {
        Dims dims = DimsOf(x.first[place]);
        const Dims factor = DimsOf(weight.first[std::min(place, weight.count - 1)]);
        if (dims.size() < 2 || factor.size() < 2) {
            RefuseNode("x and weight have tensors of " + TextOfDims(dims) + " and " +
                       TextOfDims(factor) + "; expected at least 2 dims");
        }
        dims.back() = factor.back();
        if (y.count > 1) {
            node.Sized(y.first[place], dims);
        } else if (place == 0) {
            made = dims;
        } else {
            made[0] += dims[0];  // phase one checks the sum
        }
    }
    constexpr int64_t kColumns = 2;
    if (groupType == kColumns && groups != nullptr && !DimsOf(groups).empty()) {
        made.insert(made.begin(), DimsOf(groups)[0]);
    }
    if (y.count == 1) {
        node.Sized(y.first[0], made);
    }
    return y;
}

std::vector<int64_t> PadsOf(const aclTensor* x, const NumberList& paddings) {
    RequireCount(paddings, 2 * DimsOf(x).size(), "two for each dim of x");
    Dims pads;
    for (uint64_t dim = paddings.count / 2; dim-- > 0;) {
        pads.insert(pads.end(), {paddings.values[2 * dim], paddings.values[2 * dim + 1]});
    }
    return pads;
}

std::vector<int64_t> LastPads(const aclTensor* x, const NumberList& paddings) {
    Dims pads = PadsOf(x, paddings);
    while (pads.size() > 2 && pads.back() == 0 && pads[pads.size() - 2] == 0) {
        pads.resize(pads.size() - 2);
    }
    return pads;
}

int64_t PadKind(const char* mode, const aclTensor* x, const NumberList& paddings) {
    const bool isReflected = std::strcmp(mode, "reflect") == 0;
    if (!isReflected && std::strcmp(mode, "edge") != 0) {
        if (std::strcmp(mode, "constant") != 0) {
            RefuseNode(std::string("mode is ") + mode + "; expected constant, reflect or edge");
        }
        return 0;
    }
    const auto padded = static_cast<int64_t>(LastPads(x, paddings).size() / 2);
    if (padded > 3) {
        RefuseNode(std::string(paddings.name) + " is " + TextOf(paddings) +
                   "; expected pads of the last three dims only, with mode " + mode);
    }
    return padded + (isReflected ? 0 : 10);
}

const aclTensor* SeriesOf(GraphNode& node, const aclTensor* y, const Number& start,
                          const Number& limit, const Number& delta) {
    const double length = std::ceil((limit.AsReal() - start.AsReal()) / delta.AsReal());
    if (!(length >= 0 && length < 0x1p62)) {
        RefuseNode("start, limit and delta are " + std::to_string(start.AsReal()) + ", " +
                   std::to_string(limit.AsReal()) + " and " + std::to_string(delta.AsReal()) +
                   "; expected steps that lead from start to limit");
    }
    return node.Sized(y, {static_cast<int64_t>(length)});
}

const aclTensor* SizedAs(GraphNode& node, const aclTensor* y, const aclTensor* x) {
    return node.Sized(y, DimsOf(x));
}

const aclTensor* RoundedAs(GraphNode& node, const aclTensor* y, const aclTensor* x,
                           int64_t dstType) {
    constexpr int64_t kInOne = 8;
    Dims dims = DimsOf(x);
    if (dstType == ACL_INT32 && !dims.empty()) {
        dims.back() /= kInOne;  // phase one checks that nothing remains
    }
    return node.Sized(y, dims);
}

const aclTensor* RowScalesOf(GraphNode& node, const aclTensor* scale, const aclTensor* x,
                             const char* mode) {
    Dims dims = DimsOf(x);
    if (std::strcmp(mode, "pertensor") == 0) {
        dims = {1};
    } else if (!dims.empty()) {
        dims.pop_back();
    }
    return node.Sized(scale, dims);
}

}  // namespace advstep_operators
