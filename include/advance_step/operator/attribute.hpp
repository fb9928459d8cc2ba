// SPDX-License-Identifier: Apache-2.0
/// Attributes of an operator's call: numbers, scalars and arrays. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "acl/acl_base.h"
#include "advance_step/operator/core.h"

namespace advance_step::op {

/// The value of an aclScalar. An operator's function Plan gets it for a scalar attribute.
class ScalarValue {
 public:
    ScalarValue() = default;
    /// A copy of a scalar's value.
    explicit ScalarValue(const AdvStepScalarValue& value) : value_(value) {}

    /// Returns the type with which the scalar was created.
    aclDataType dataType() const { return value_.dataType; }

    /// Returns whether the type is an integer or bool. To converts such a value exactly if it fits.
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

    /// Returns whether To can convert the type: integers, bool, and real floating-point types.
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

    /// Returns the value, converted as by static_cast; 0 for a type that is no number. The caller
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

    // The bits of a bfloat16 are the upper half of a float's.
    float FromBrainFloat() const {
        const uint32_t bits = uint32_t{From<uint16_t, uint16_t>()} << 16;
        float value = 0;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
    }

    AdvStepScalarValue value_{};
};

/// The values of an aclIntArray (int64_t), aclFloatArray (float) or aclBoolArray (bool). An
/// operator's function Plan gets them. They are not copied: they are valid during the call.
template <typename T>
class ArrayValue {
 public:
    ArrayValue() = default;
    /// The `size` values at `data`.
    ArrayValue(const T* data, size_t size) : data_(data), size_(size) {}

    /// Returns the number of values.
    size_t size() const { return size_; }
    /// Returns one value; place is below size().
    T operator[](size_t place) const { return data_[place]; }
    /// Returns the address of the first value.
    const T* begin() const { return data_; }
    /// Returns the address after the last value.
    const T* end() const { return data_ + size_; }

 private:
    const T* data_ = nullptr;
    size_t size_ = 0;
};

/// @cond Inner parts.
namespace detail {

// An attribute, in two forms: as numbers for the key of a plan, and as the value that Plan gets.
template <typename T>
class Attribute {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>,
                  "an attribute of an operator is a number, a bool, an enumeration, a const "
                  "aclScalar*, or a const aclIntArray*, aclFloatArray* or aclBoolArray*");
    static_assert(sizeof(T) <= sizeof(int64_t), "an attribute has at most 8 bytes");

 public:
    static constexpr size_t kNumbers = 1;
    static constexpr const char* kExpected = "a value";

    explicit Attribute(T value) : value_(value) {}
    static constexpr aclnnStatus code() { return ACLNN_SUCCESS; }
    bool isPresent() const { return true; }
    T value() const { return value_; }
    size_t numbers() const { return kNumbers; }
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
    static constexpr const char* kExpected = "a scalar";

    explicit Attribute(const aclScalar* scalar) {
        AdvStepScalarValue read{};
        code_ = scalar != nullptr ? advstepReadScalar(scalar, &read) : ACLNN_ERR_PARAM_NULLPTR;
        value_ = ScalarValue(read);
    }
    aclnnStatus code() const { return code_; }
    bool isPresent() const { return code_ == ACLNN_SUCCESS; }
    const ScalarValue& value() const { return value_; }
    size_t numbers() const { return kNumbers; }
    int64_t* Write(int64_t* numbers) const {
        numbers[0] = value_.dataType();
        std::memcpy(numbers + 1, value_.plain().bytes, sizeof(value_.plain().bytes));
        return numbers + kNumbers;
    }

 private:
    ScalarValue value_;
    aclnnStatus code_;
};

template <>
class Attribute<aclScalar*> : public Attribute<const aclScalar*> {
    using Attribute<const aclScalar*>::Attribute;
};

inline aclnnStatus ReadArray(const aclIntArray* array, const int64_t** values, uint64_t* count) {
    return advstepReadIntArray(array, values, count);
}
inline aclnnStatus ReadArray(const aclFloatArray* array, const float** values, uint64_t* count) {
    return advstepReadFloatArray(array, values, count);
}
inline aclnnStatus ReadArray(const aclBoolArray* array, const bool** values, uint64_t* count) {
    return advstepReadBoolArray(array, values, count);
}

// An array as its size and one number for each value.
template <typename Array, typename T>
class ArrayAttribute {
 public:
    static constexpr size_t kNumbers = 0;  // depends on the array
    static constexpr const char* kExpected = "an array";

    explicit ArrayAttribute(const Array* array) {
        const T* values = nullptr;
        uint64_t count = 0;
        code_ = array != nullptr ? ReadArray(array, &values, &count) : ACLNN_ERR_PARAM_NULLPTR;
        value_ = ArrayValue<T>(values, static_cast<size_t>(count));
    }
    aclnnStatus code() const { return code_; }
    bool isPresent() const { return code_ == ACLNN_SUCCESS; }
    const ArrayValue<T>& value() const { return value_; }
    size_t numbers() const { return 1 + value_.size(); }
    int64_t* Write(int64_t* numbers) const {
        *numbers++ = static_cast<int64_t>(value_.size());
        for (const T value : value_) {
            numbers = Attribute<T>(value).Write(numbers);
        }
        return numbers;
    }

 private:
    ArrayValue<T> value_;
    aclnnStatus code_;
};

template <>
class Attribute<const aclIntArray*> : public ArrayAttribute<aclIntArray, int64_t> {
    using ArrayAttribute::ArrayAttribute;
};
template <>
class Attribute<aclIntArray*> : public ArrayAttribute<aclIntArray, int64_t> {
    using ArrayAttribute::ArrayAttribute;
};
template <>
class Attribute<const aclFloatArray*> : public ArrayAttribute<aclFloatArray, float> {
    using ArrayAttribute::ArrayAttribute;
};
template <>
class Attribute<aclFloatArray*> : public ArrayAttribute<aclFloatArray, float> {
    using ArrayAttribute::ArrayAttribute;
};
template <>
class Attribute<const aclBoolArray*> : public ArrayAttribute<aclBoolArray, bool> {
    using ArrayAttribute::ArrayAttribute;
};
template <>
class Attribute<aclBoolArray*> : public ArrayAttribute<aclBoolArray, bool> {
    using ArrayAttribute::ArrayAttribute;
};

}  // namespace detail
/// @endcond
}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_ATTRIBUTE_HPP_
