// SPDX-License-Identifier: Apache-2.0
/// The tensors of an operator, each spelt once. Checks, views, slots and the keys of plans come
/// from this table. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_SIGNATURE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_SIGNATURE_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "acl/acl_base.h"

namespace advance_step::op {

/// The use that a launch makes of a tensor.
enum class Access : uint8_t { kRead, kWritten };

/// Whether a call may leave a tensor out, as a null pointer. Its view then has no data type.
enum class Presence : uint8_t { kRequired, kOptional };

/// The dtypes that a tensor may have.
struct DataTypes {
    /// The most dtypes of one tensor.
    static constexpr size_t kMost = 6;

    aclDataType list[kMost];  ///< the first `count` entries
    uint8_t count;            ///< at least 1
    bool lastIfNarrow;        ///< the last is allowed only where the call takes narrow tensors
};

/// One dtype.
constexpr DataTypes Only(aclDataType type) { return {{type}, 1, false}; }
/// One of two dtypes.
constexpr DataTypes Either(aclDataType first, aclDataType second) {
    return {{first, second}, 2, false};
}
/// The first dtype, and where a call takes narrow tensors the second as well.
constexpr DataTypes OrNarrow(aclDataType first, aclDataType narrow) {
    return {{first, narrow}, 2, true};
}
/// One of several dtypes.
template <typename... Types>
constexpr DataTypes OneOf(Types... types) {
    static_assert(sizeof...(types) >= 1 && sizeof...(types) <= DataTypes::kMost,
                  "OneOf takes 1 to 6 data types");
    return {{types...}, sizeof...(types), false};
}

/// The memory layout that a tensor may have.
enum class Layout : uint8_t {
    kContiguous,
    kContiguousRows,  ///< of a matrix: rows may be further apart than they are long
};

/// A shape, in words and dims. A dim is a place in the CallDims of a call.
struct Shape {
    static constexpr uint8_t kNoDim = 0;     ///< the end of a list of dims
    static constexpr uint8_t kMostDims = 8;  ///< the most axes of a shape
    static constexpr int8_t kNoRank = -1;    ///< of the shape that no tensor has
    static constexpr int8_t kAnyRank = -2;   ///< of the shape that every tensor has

    constexpr Shape() = default;
    /// @param[in] inWords  for messages, for instance "[numQueries, 1]"
    /// @param[in] axes     places in CallDims, from 1 on
    template <typename... Axes>
    constexpr Shape(const char* inWords, uint8_t first, Axes... axes)
        : words(inWords),
          rank(static_cast<int8_t>(1 + sizeof...(axes))),
          dims{first, static_cast<uint8_t>(axes)...} {
        static_assert(1 + sizeof...(axes) <= kMostDims, "a Shape has at most 8 axes");
    }

    /// Any shape. The operator checks it by itself, as one with broadcasting does.
    static constexpr Shape Any() {
        Shape any;
        any.words = "any shape";
        any.rank = kAnyRank;
        return any;
    }

    const char* words = nullptr;  ///< "[numQueries, 1]"
    int8_t rank = kNoRank;        ///< axes, kNoRank or kAnyRank
    uint8_t dims[kMostDims]{};    ///< `rank` places in CallDims
};

/// The shapes that a tensor may have. A message names the first.
struct Shapes {
    Shape first;
    Shape second{};  ///< the default: there is none
};

/// The values of an operator's dims in one call. Place 0 is Shape::kNoDim.
template <size_t kCount>
using CallDims = std::array<int64_t, kCount>;
/// A value of a dim that stands for all numbers from 0: no tensor has such a dim.
inline constexpr int64_t kAtLeastZero = std::numeric_limits<int64_t>::min();
/// A value of a dim that stands for all numbers from 1.
inline constexpr int64_t kAtLeastOne = kAtLeastZero + 1;

/// One tensor of an operator.
struct TensorArgument {
    const char* name;  ///< as the header spells it
    Access access;     ///< written: no other tensor of the call may overlap it
    DataTypes types;
    Shapes shapes;
    size_t addressAt;  ///< where the payload keeps the address of the first element
    Layout layout = Layout::kContiguous;
    Presence presence = Presence::kRequired;
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
        if (place == kCount || std::string_view(signature[place].name) != first[place].name) {
            return false;
        }
    }
    return true;
}

/// Whether every tensor has a name that no other one has.
template <size_t kCount>
constexpr bool HasOwnNames(const Signature<kCount>& signature) {
    for (size_t place = 0; place < kCount; ++place) {
        if (signature[place].name == nullptr || signature[place].name[0] == '\0') {
            return false;
        }
        for (size_t other = 0; other < place; ++other) {
            if (std::string_view(signature[place].name) == signature[other].name) {
                return false;
            }
        }
    }
    return true;
}

/// Whether every address has an aligned place of its own in a payload of so many bytes.
template <size_t kCount>
constexpr bool HasOwnAddresses(const Signature<kCount>& signature, size_t payloadBytes) {
    for (size_t place = 0; place < kCount; ++place) {
        const size_t at = signature[place].addressAt;
        if (at % sizeof(void*) != 0 || at > payloadBytes || payloadBytes - at < sizeof(void*)) {
            return false;
        }
        for (size_t other = 0; other < place; ++other) {
            if (at == signature[other].addressAt) {
                return false;
            }
        }
    }
    return true;
}

/// Whether every tensor has dtypes.
template <size_t kCount>
constexpr bool HasDataTypes(const Signature<kCount>& signature) {
    for (const TensorArgument& argument : signature) {
        if (argument.types.count < 1 || argument.types.count > DataTypes::kMost) {
            return false;
        }
    }
    return true;
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_SIGNATURE_HPP_
