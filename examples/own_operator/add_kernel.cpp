// SPDX-License-Identifier: Apache-2.0
// Adds the elements of a core, one run along the last axis after the other.

#include "add_kernel.h"

#include <algorithm>
#include <type_traits>

namespace op = advance_step::op;

namespace own {
namespace {

// Where an element of out comes from.
struct Place {
    int64_t self;
    int64_t other;
    int64_t last;  // index along the last axis
};

Place PlaceOf(const AddTiling& t, int64_t element) {
    Place place{0, 0, t.rank == 0 ? 0 : element % t.dims[t.rank - 1]};
    for (int64_t axis = t.rank; axis-- > 0;) {
        const int64_t index = element % t.dims[axis];
        element /= t.dims[axis];
        place.self += index * t.selfStrides[axis];
        place.other += index * t.otherStrides[axis];
    }
    return place;
}

template <typename T>
T Sum(T self, T other, const AddTiling& t) {
    if constexpr (std::is_floating_point_v<T>) {
        return self + static_cast<T>(t.floatAlpha) * other;
    } else {
        using Bits = std::make_unsigned_t<T>;  // these wrap around
        return static_cast<T>(static_cast<Bits>(self) +
                              static_cast<Bits>(t.wholeAlpha) * static_cast<Bits>(other));
    }
}

// [kernel]
template <typename T>
void Add(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const AddPayload*>(payload);
    const AddTiling& t = p.tiling;
    const auto* const self = static_cast<const T*>(p.self);
    const auto* const other = static_cast<const T*>(p.other);
    auto* const out = static_cast<T*>(p.out);
    const int64_t length = t.rank == 0 ? 1 : t.dims[t.rank - 1];
    const int64_t selfStep = t.rank == 0 ? 0 : t.selfStrides[t.rank - 1];
    const int64_t otherStep = t.rank == 0 ? 0 : t.otherStrides[t.rank - 1];
    const op::RowRange rows = op::RowsOf(core.index, t.rowsPerCore, t.elements, core.count);
    for (int64_t row = rows.begin; row < rows.end;) {
        const Place from = PlaceOf(t, row);
        const int64_t run = std::min(rows.end - row, length - from.last);
        for (int64_t i = 0; i < run; ++i) {
            out[row + i] =
                Sum(self[from.self + i * selfStep], other[from.other + i * otherStep], t);
        }
        row += run;
    }
}
// [/kernel]

}  // namespace

op::KernelFn AddKernelFor(aclDataType dataType) {
    return dataType == ACL_FLOAT   ? &Add<float>
           : dataType == ACL_INT32 ? &Add<int32_t>
                                   : &Add<int64_t>;
}

}  // namespace own
