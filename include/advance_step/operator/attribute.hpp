// SPDX-License-Identifier: Apache-2.0
/// Attributes of an operator's call: numbers and scalars. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "acl/acl_base.h"
#include "advance_step/operator/core.h"

namespace advance_step::op {

/// The value of an aclScalar, which an operator's function Plan gets.
class ScalarValue {
 public:
    ScalarValue() = default;
    /// A copy of a scalar's value.
    explicit ScalarValue(const AdvStepScalarValue& value) : value_(value) {}

    /// Returns the type that the scalar was created with.
    aclDataType dataType() const { return value_.dataType; }

    /// Returns whether the type is an integer or bool, which To converts exactly where it fits.
    bool isInteger() const {
        switch (value_.dataType) {
            case ACL_INT8:
            case ACL_INT16:
            case ACL_INT32:
            case ACL_INT64:
            case ACL_UINT8:
            case ACL_UINT16:
            case ACL_UINT32:
            case ACL_UINT64:
            case ACL_BOOL:
                return true;
            default:
                return false;
        }
    }

    /// Returns whether To has a value for the type: integers, bool, and real floating-point types.
    bool isNumber() const {
        switch (value_.dataType) {
            case ACL_FLOAT:
            case ACL_DOUBLE:
            case ACL_FLOAT16:
            case ACL_BF16:
                return true;
            default:
                return isInteger();
        }
    }

    /// Returns the value converted as static_cast does; 0 for a type that is no number. The caller
    /// makes sure that a floating-point value fits an integer type.
    template <typename T>
    T To() const {
        switch (value_.dataType) {
            case ACL_INT8:
                return From<T, int8_t>();
            case ACL_INT16:
                return From<T, int16_t>();
            case ACL_INT32:
                return From<T, int32_t>();
            case ACL_INT64:
                return From<T, int64_t>();
            case ACL_UINT8:
                return From<T, uint8_t>();
            case ACL_BOOL:
                return static_cast<T>(value_.bytes[0] != 0 ? 1 : 0);
            case ACL_UINT16:
                return From<T, uint16_t>();
            case ACL_UINT32:
                return From<T, uint32_t>();
            case ACL_UINT64:
                return From<T, uint64_t>();
            case ACL_FLOAT:
                return From<T, float>();
            case ACL_DOUBLE:
                return From<T, double>();
            case ACL_FLOAT16:
                return static_cast<T>(aclFloat16ToFloat(From<aclFloat16, aclFloat16>()));
            case ACL_BF16:
                return static_cast<T>(FromBrainFloat());
            default:
                return T{};
        }
    }

    /// Returns the plain value.
    const AdvStepScalarValue& plain() const { return value_; }

 private:
    template <typename T, typename Stored>
    T From() const {
        Stored stored;
        std::memcpy(&stored, value_.bytes, sizeof(stored));
        return static_cast<T>(stored);
    }

    // The upper half of a float.
    float FromBrainFloat() const {
        const uint32_t bits = uint32_t{From<uint16_t, uint16_t>()} << 16;
        float value = 0;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
    }

    AdvStepScalarValue value_{};
};

/// @cond Inner parts.
namespace detail {

// An attribute as numbers, for the key of plans, and as the value that Plan gets.
template <typename T>
class Attribute {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>,
                  "an attribute of an operator is a number, a bool, an enumeration or a const "
                  "aclScalar*");
    static_assert(sizeof(T) <= sizeof(int64_t), "an attribute has at most 8 bytes");

 public:
    static constexpr size_t kNumbers = 1;

    explicit Attribute(T value) : value_(value) {}
    bool isPresent() const { return true; }
    T value() const { return value_; }
    int64_t* Write(int64_t* numbers) const {
        *numbers = 0;
        std::memcpy(numbers, &value_, sizeof(value_));
        return numbers + kNumbers;
    }

 private:
    T value_;
};

template <>
class Attribute<const aclScalar*> {
 public:
    static constexpr size_t kNumbers = 3;

    explicit Attribute(const aclScalar* scalar) {
        AdvStepScalarValue read{};
        isPresent_ = scalar != nullptr && advstepReadScalar(scalar, &read) == ACLNN_SUCCESS;
        value_ = ScalarValue(read);
    }
    bool isPresent() const { return isPresent_; }
    const ScalarValue& value() const { return value_; }
    int64_t* Write(int64_t* numbers) const {
        numbers[0] = value_.dataType();
        std::memcpy(numbers + 1, value_.plain().bytes, sizeof(value_.plain().bytes));
        return numbers + kNumbers;
    }

 private:
    ScalarValue value_;
    bool isPresent_;
};

template <>
class Attribute<aclScalar*> : public Attribute<const aclScalar*> {
    using Attribute<const aclScalar*>::Attribute;
};

}  // namespace detail
/// @endcond
}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_
