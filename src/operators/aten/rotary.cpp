// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings by ATen's operations.

#include "src/operators/aten/rotary.h"

#include "src/operators/aten/helpers.h"
#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

constexpr int64_t kHalves = 0;
constexpr int64_t kNeighbours = 1;
constexpr int64_t kQuarters = 2;
constexpr int64_t kSorted = 3;  // neighbours become halves

at::Tensor Even(const at::Tensor& x) { return at::slice(x, -1, 0, std::nullopt, 2); }

at::Tensor Odd(const at::Tensor& x) { return at::slice(x, -1, 1, std::nullopt, 2); }

at::Tensor Interleaved(const at::Tensor& first, const at::Tensor& second) {
    return at::stack({first, second}, -1).flatten(-2);
}

// Returns (-b, a) of the parts (a, b), or its transpose (b, -a).
at::Tensor Turned(const at::Tensor& x, int64_t mode, bool back) {
    if (mode == kQuarters) {
        const std::vector<at::Tensor> halves = at::chunk(x, 2, -1);
        return at::cat({Turned(halves.at(0), kHalves, back), Turned(halves.at(1), kHalves, back)},
                       -1);
    }
    if (mode == kNeighbours) {
        return back ? Interleaved(Odd(x), at::neg(Even(x))) : Interleaved(at::neg(Odd(x)), Even(x));
    }
    const std::vector<at::Tensor> halves = at::chunk(x, 2, -1);
    return back ? at::cat({halves.at(1), at::neg(halves.at(0))}, -1)
                : at::cat({at::neg(halves.at(1)), halves.at(0)}, -1);
}

at::Tensor Sorted(const at::Tensor& x) { return at::cat({Even(x), Odd(x)}, -1); }

// Refuses what would broadcast x.
void CheckFactor(const char* name, const at::Tensor& factor, const at::Tensor& x) {
    bool fits = factor.dim() <= x.dim();
    for (int64_t dim = 1; fits && dim <= factor.dim(); ++dim) {
        fits = factor.size(-dim) == 1 || factor.size(-dim) == x.size(-dim);
    }
    TORCH_CHECK_VALUE(fits, name, " has shape ", factor.sizes(),
                      "; expected one that broadcasts to ", x.sizes());
}

void CheckRotation(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                   int64_t mode) {
    CheckNumber("mode", mode, kHalves, kSorted);
    const int64_t parts = mode == kQuarters ? 4 : 2;
    TORCH_CHECK_VALUE(x.dim() > 0 && x.size(-1) > 0 && x.size(-1) % parts == 0, "x has shape ",
                      x.sizes(), "; expected a last dim that ", parts, " divides");
    CheckFactor("cos", cos, x);
    CheckFactor("sin", sin, x);
}

int64_t ModeOf(std::string_view text) {
    constexpr std::string_view kModes[] = {"half", "interleave", "quarter"};
    for (int64_t mode = 0; mode < 3; ++mode) {
        if (text == kModes[mode]) {
            return mode;
        }
    }
    TORCH_CHECK_VALUE(false, "rotaryMode is ", std::string(text),
                      "; expected half, interleave or quarter");
}

}  // namespace

at::Tensor Rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t mode) {
    CheckRotation(x, cos, sin, mode);
    const at::Tensor wide = mode == kSorted ? Sorted(Wide(x)) : Wide(x);
    return at::add(at::mul(wide, Wide(cos)), at::mul(Turned(wide, mode, false), Wide(sin)));
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> RotateBackward(const at::Tensor& dy,
                                                              const at::Tensor& cos,
                                                              const at::Tensor& sin,
                                                              const at::Tensor& x, int64_t mode) {
    CheckRotation(dy, cos, sin, mode);
    const at::Tensor wide = Wide(dy);
    at::Tensor dx = at::add(at::mul(wide, Wide(cos)), Turned(at::mul(wide, Wide(sin)), mode, true));
    if (mode == kSorted) {
        const std::vector<at::Tensor> halves = at::chunk(dx, 2, -1);
        dx = Interleaved(halves.at(0), halves.at(1));
    }
    if (!x.defined()) {
        return {dx, {}, {}};
    }
    CheckShape("xOptional", x, dy.sizes());
    const at::Tensor source = mode == kSorted ? Sorted(Wide(x)) : Wide(x);
    return {dx, at::sum_to(at::mul(wide, source), cos.sizes()),
            at::sum_to(at::mul(wide, Turned(source, mode, false)), sin.sizes())};
}

std::tuple<at::Tensor, at::Tensor> RotateBoth(const at::Tensor& query, const at::Tensor& key,
                                              const at::Tensor& cos, const at::Tensor& sin,
                                              int64_t layout, std::string_view mode) {
    CheckNumber("layout", layout, 1, 4);
    const int64_t rank = layout == 4 ? 3 : 4;
    TORCH_CHECK_VALUE(query.dim() == rank && key.dim() == rank, "queryRef and keyRef have ",
                      query.dim(), " and ", key.dim(), " dims; expected ", rank, " in layout ",
                      layout);
    const int64_t rotation = ModeOf(mode);
    return {Rotate(query, cos, sin, rotation), Rotate(key, cos, sin, rotation)};
}

namespace {

// Returns a row of the cache for each token: [tokens, 1, columns].
at::Tensor RowsOf(const Named& named, const at::Tensor& cache) {
    const at::Tensor positions = named.Tensor("positions");
    const at::IntArrayRef sections = named.Ints("mropeSection");
    const at::Tensor places = IndexBelow(positions, cache.size(0), "positions");
    if (positions.dim() == 1) {
        return at::index_select(Wide(cache), 0, places).unsqueeze(1);
    }
    CheckShape("positions", positions, {3, -1});
    const int64_t half = cache.size(1) / 2;
    TORCH_CHECK_VALUE(sections.size() == 3 && sections[0] >= 0 && sections[1] >= 0 &&
                          sections[2] >= 0 && sections[0] + sections[1] + sections[2] == half,
                      "mropeSection is ", sections, "; expected three numbers of columns, ", half,
                      " together");
    std::vector<at::Tensor> parts;
    for (const int64_t offset : {int64_t{0}, half}) {
        int64_t begin = offset;
        for (int64_t axis = 0; axis < 3; ++axis) {
            const int64_t count = sections[static_cast<size_t>(axis)];
            parts.push_back(
                at::index_select(Wide(cache).narrow(1, begin, count), 0, places.select(0, axis)));
            begin += count;
        }
    }
    return at::cat(parts, 1).unsqueeze(1);
}

at::Tensor RotatedHeads(const char* name, const at::Tensor& x, const at::Tensor& rows, int64_t size,
                        bool halves) {
    CheckShape(name, x, {rows.size(0), -1});
    TORCH_CHECK_VALUE(x.size(1) % size == 0, name, " has shape ", x.sizes(),
                      "; expected heads of headSize, ", size);
    const at::Tensor heads = Wide(x).reshape({x.size(0), x.size(1) / size, size});
    const std::vector<at::Tensor> factors = at::chunk(rows, 2, -1);
    const auto widened = [&](const at::Tensor& factor) {
        return halves ? at::cat({factor, factor}, -1) : Interleaved(factor, factor);
    };
    const int64_t rotary = rows.size(-1);
    const at::Tensor rotated = Rotate(heads.narrow(-1, 0, rotary), widened(factors.at(0)),
                                      widened(factors.at(1)), halves ? kHalves : kNeighbours);
    return at::cat({rotated, heads.narrow(-1, rotary, size - rotary)}, -1).reshape(x.sizes());
}

}  // namespace

void RopeWithCache(Call& call) {
    Named named(call);
    const at::Tensor cache = named.Tensor("cosSinCache");
    const int64_t size = named.Int("headSize");
    CheckShape("cosSinCache", cache, {-1, -1});
    TORCH_CHECK_VALUE(
        size > 0 && cache.size(1) > 0 && cache.size(1) % 2 == 0 && cache.size(1) <= size,
        "cosSinCache has shape ", cache.sizes(), " and headSize is ", size,
        "; expected an even number of columns of at most headSize");
    const at::Tensor rows = RowsOf(named, cache);
    const bool halves = named.Flag("isNeoxStyle");
    named.Put({{"queryOut", RotatedHeads("queryIn", named.Tensor("queryIn"), rows, size, halves)},
               {"keyOut", RotatedHeads("keyIn", named.Tensor("keyIn"), rows, size, halves)}});
}

}  // namespace advstep_operators
