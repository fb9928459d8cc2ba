// SPDX-License-Identifier: Apache-2.0
/// The table of an operator's tensors. Checks, views, slots and the keys of plans come from this
/// table, so each tensor is described once. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_SIGNATURE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_SIGNATURE_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "acl/acl_base.h"

namespace advance_step::op {

/// The way in which a launch uses a tensor.
enum class Access : uint8_t { kRead, kWritten };

/// Whether a call may pass null for a tensor. The tensor's view then has no data type.
enum class Presence : uint8_t { kRequired, kOptional };

/// The dtypes that a tensor may have.
struct DataTypes {
    /// The most dtypes of one tensor.
    static constexpr size_t kMost = 6;

    aclDataType list[kMost];  ///< the first `count` entries
    uint8_t count;            ///< at least 1
    bool lastIfNarrow;        ///< the last dtype is allowed only if the call takes narrow tensors
};

/// One dtype.
constexpr DataTypes Only(aclDataType type) { return {{type}, 1, false}; }
/// One of two dtypes.
constexpr DataTypes Either(aclDataType first, aclDataType second) {
    return {{first, second}, 2, false};
}
/// The first dtype, and the second as well if a call takes narrow tensors.
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
    kContiguousRows,  ///< each row of a matrix is contiguous; there may be gaps between rows
};

/// A shape, in words and as dims. A dim is given by its place in the CallDims of a call.
struct Shape {
    static constexpr uint8_t kNoDim = 0;     ///< the end of a list of dims
    static constexpr uint8_t kMostDims = 8;  ///< the most axes of a shape
    static constexpr int8_t kNoRank = -1;    ///< the rank of the shape that no tensor has
    static constexpr int8_t kAnyRank = -2;   ///< the rank of the shape that every tensor has

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

    /// Returns the shape that every tensor has, for an operator that checks shapes itself, for
    /// instance because it broadcasts.
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
    Shape second{};  ///< the default is the shape that no tensor has
};

/// The values of an operator's dims in one call. Place 0 is Shape::kNoDim.
template <size_t kCount>
using CallDims = std::array<int64_t, kCount>;
/// A value in CallDims that stands for all numbers from 0 on. No tensor has a dim of this value.
inline constexpr int64_t kAtLeastZero = std::numeric_limits<int64_t>::min();
/// A value in CallDims that stands for all numbers from 1 on.
inline constexpr int64_t kAtLeastOne = kAtLeastZero + 1;

/// One tensor of an operator.
struct TensorArgument {
    const char* name;  ///< as the operator's header spells it
    Access access;     ///< kWritten: no other tensor of the call may overlap it
    DataTypes types;
    Shapes shapes;
    size_t addressAt;  ///< offset in the payload of the first element's address
    Layout layout = Layout::kContiguous;
    Presence presence = Presence::kRequired;
};

/// All tensors of an operator, in the order of its header.
template <size_t kCount>
using Signature = std::array<TensorArgument, kCount>;

/// Returns the place of a tensor in the signature. An unknown name does not compile.
template <size_t kCount>
constexpr size_t PlaceOf(const Signature<kCount>& signature, std::string_view name) {
    size_t place = 0;
    while (name != signature.at(place).name) {
        ++place;
    }
    return place;
}

/// Returns whether the first tensors of a signature are those of another one, by their names.
template <size_t kCount, size_t kFirst>
constexpr bool BeginsWith(const Signature<kCount>& signature, const Signature<kFirst>& first) {
    for (size_t place = 0; place < kFirst; ++place) {
        if (place == kCount || std::string_view(signature[place].name) != first[place].name) {
            return false;
        }
    }
    return true;
}

/// Returns whether every tensor has a name that no other tensor has.
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

/// Returns whether every address has an aligned place of its own in a payload of payloadBytes.
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

/// Returns whether every tensor has 1 to DataTypes::kMost dtypes.
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
