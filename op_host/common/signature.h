// SPDX-License-Identifier: Apache-2.0
// The tensors of an operator, each spelt once. Checks, views, slots and plan keys come from this
// table. A row is constant data, so that the compiler can fold what depends on it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "src/base/tensor_view.h"

namespace advstep {

/// The use that a launch makes of a tensor.
enum class Access : uint8_t { kRead, kWritten };

/// The dtypes that a tensor may have.
struct DataTypes {
    aclDataType first;
    aclDataType second;   // the first again where there is only one
    bool secondIfNarrow;  // the second is allowed only where the call takes narrow tensors
};

constexpr DataTypes Only(aclDataType type) { return {type, type, false}; }
constexpr DataTypes Either(aclDataType first, aclDataType second) { return {first, second, false}; }
constexpr DataTypes OrNarrow(aclDataType first, aclDataType narrow) {
    return {first, narrow, true};
}

/// The memory layout that a tensor may have.
enum class Layout : uint8_t {
    kContiguous,
    kContiguousRows,  // of a matrix: rows may be further apart than they are long
};

/// A shape, in words and dims. A dim is a place in the CallDims of a call.
struct Shape {
    static constexpr uint8_t kNoDim = 0;

    constexpr Shape() = default;
    constexpr Shape(const char* inWords, uint8_t first, uint8_t second = kNoDim,
                    uint8_t third = kNoDim)
        : words(inWords),
          rank(third != kNoDim    ? 3
               : second != kNoDim ? 2
                                  : 1),
          dims{first, second, third} {}

    const char* words = nullptr;  // "[numQueries, 1]"
    int8_t rank = -1;             // that of no tensor
    uint8_t dims[3]{};
};

/// The shapes that a tensor may have. A message names the first.
struct Shapes {
    Shape first;
    Shape second{};  // the default: there is none
};

/// The values of an operator's dims in one call. Place 0 is Shape::kNoDim.
template <size_t kCount>
using CallDims = std::array<int64_t, kCount>;
// Values that stand for all numbers from 0, and from 1: no tensor has such a dim.
inline constexpr int64_t kAtLeastZero = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kAtLeastOne = kAtLeastZero + 1;

/// One tensor of an operator.
struct TensorArgument {
    const char* name;  // as the header spells it
    Access access;
    DataTypes types;
    Shapes shapes;
    size_t addressAt;  // where the payload keeps the address of the first element
    Layout layout = Layout::kContiguous;
};

/// All tensors of an operator, in the order of its header.
template <size_t kCount>
using Signature = std::array<TensorArgument, kCount>;

/// The place of a tensor in the signature. A name that is not there does not compile.
template <size_t kCount>
constexpr size_t PlaceOf(const Signature<kCount>& signature, std::string_view name) {
    size_t place = 0;
    while (name != signature.at(place).name) {
        ++place;
    }
    return place;
}

/// Whether a signature has the tensors of another one as its first.
template <size_t kCount, size_t kFirst>
constexpr bool BeginsWith(const Signature<kCount>& signature, const Signature<kFirst>& first) {
    for (size_t place = 0; place < kFirst; ++place) {
        if (PlaceOf(signature, first[place].name) != place) {
            return false;
        }
    }
    return true;
}

}  // namespace advstep
