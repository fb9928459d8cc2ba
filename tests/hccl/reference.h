// SPDX-License-Identifier: Apache-2.0
// Plain loops over the values of all ranks, with arithmetic that knows nothing of the library's.
#ifndef ADVANCE_STEP_TESTS_HCCL_REFERENCE_H_
#define ADVANCE_STEP_TESTS_HCCL_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "hccl/hccl.h"

namespace hccl_test {

using Bytes = std::vector<unsigned char>;

constexpr HcclDataType kFloat = HCCL_DATA_TYPE_FP32;

inline size_t SizeOf(HcclDataType type) {
    switch (type) {
        case HCCL_DATA_TYPE_INT16:
        case HCCL_DATA_TYPE_UINT16:
        case HCCL_DATA_TYPE_FP16:
        case HCCL_DATA_TYPE_BFP16:
            return 2;
        case HCCL_DATA_TYPE_INT32:
        case HCCL_DATA_TYPE_UINT32:
        case HCCL_DATA_TYPE_FP32:
            return 4;
        case HCCL_DATA_TYPE_INT64:
        case HCCL_DATA_TYPE_UINT64:
        case HCCL_DATA_TYPE_FP64:
            return 8;
        default:
            return 1;
    }
}

// The digits and the exponents of a float of 16 bits.
struct SmallFloat {
    int digits;  // behind the point
    int bias;
};
constexpr SmallFloat kHalf{10, 15};
constexpr SmallFloat kBrain{7, 127};

inline double ValueOf(uint16_t bits, const SmallFloat& format) {
    const int digits = bits & ((1 << format.digits) - 1);
    const int most = (1 << (15 - format.digits)) - 1;
    const int exponent = (bits >> format.digits) & most;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == most) {
        return digits != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    const double fraction = std::ldexp(digits, -format.digits) + (exponent == 0 ? 0.0 : 1.0);
    return sign * std::ldexp(fraction, (exponent == 0 ? 1 : exponent) - format.bias);
}

// The nearest one; of two the one whose last digit is 0.
inline uint16_t BitsOf(double value, const SmallFloat& format) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const int most = (1 << (15 - format.digits)) - 1;
    const auto infinite = static_cast<uint16_t>(sign | (most << format.digits));
    if (std::isinf(value)) {
        return infinite;
    }
    int exponent = 0;
    (void)std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, 1 - format.bias);  // of the last digit's step
    const double steps =
        std::nearbyint(std::ldexp(std::fabs(value), format.digits - exponent));  // even ones of two
    const double rounded = std::ldexp(steps, exponent - format.digits);
    if (rounded == 0.0) {
        return sign;
    }
    (void)std::frexp(rounded, &exponent);
    exponent = std::max(exponent - 1, 1 - format.bias);
    if (exponent > format.bias) {
        return infinite;
    }
    const auto digits = static_cast<int>(std::ldexp(rounded, format.digits - exponent));
    const bool normal = digits >= 1 << format.digits;
    return static_cast<uint16_t>(sign | (normal ? (exponent + format.bias) << format.digits : 0) |
                                 (digits & ((1 << format.digits) - 1)));
}

template <typename T>
T Combine(HcclReduceOp op, T a, T b) {
    switch (op) {
        case HCCL_REDUCE_SUM:
            return a + b;
        case HCCL_REDUCE_PROD:
            return a * b;
        case HCCL_REDUCE_MAX:
            return a < b ? b : a;
        default:
            return b < a ? b : a;
    }
}

// Whole numbers of fewer bits wrap around as those of 64 bits do.
template <typename T>
T CombineWhole(HcclReduceOp op, T a, T b) {
    if (op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_PROD) {
        return static_cast<T>(
            Combine<uint64_t>(op, static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    }
    return Combine<T>(op, a, b);
}

template <typename T, typename Function>
void ForEach(Bytes* sum, const Bytes& addend, const Function& combine) {
    for (size_t at = 0; at + sizeof(T) <= sum->size(); at += sizeof(T)) {
        T a;
        T b;
        std::memcpy(&a, sum->data() + at, sizeof(T));
        std::memcpy(&b, addend.data() + at, sizeof(T));
        a = combine(a, b);
        std::memcpy(sum->data() + at, &a, sizeof(T));
    }
}

inline void Add(HcclDataType type, HcclReduceOp op, Bytes* sum, const Bytes& addend) {
    const auto whole = [op](auto a, auto b) { return CombineWhole(op, a, b); };
    const auto floating = [op](auto a, auto b) { return Combine(op, a, b); };
    const auto small = [op](const SmallFloat& format) {
        return [op, &format](uint16_t a, uint16_t b) {
            // Not in double: the library adds in float, which is as exact for two of them.
            return BitsOf(Combine(op, ValueOf(a, format), ValueOf(b, format)), format);
        };
    };
    switch (type) {
        case HCCL_DATA_TYPE_INT8:
            return ForEach<int8_t>(sum, addend, whole);
        case HCCL_DATA_TYPE_INT16:
            return ForEach<int16_t>(sum, addend, whole);
        case HCCL_DATA_TYPE_INT32:
            return ForEach<int32_t>(sum, addend, whole);
        case HCCL_DATA_TYPE_INT64:
            return ForEach<int64_t>(sum, addend, whole);
        case HCCL_DATA_TYPE_UINT64:
            return ForEach<uint64_t>(sum, addend, whole);
        case HCCL_DATA_TYPE_FP32:
            return ForEach<float>(sum, addend, floating);
        case HCCL_DATA_TYPE_FP64:
            return ForEach<double>(sum, addend, floating);
        case HCCL_DATA_TYPE_FP16:
            return ForEach<uint16_t>(sum, addend, small(kHalf));
        default:
            return ForEach<uint16_t>(sum, addend, small(kBrain));
    }
}

// Values of a rank, the same in every process: floats of many sizes without NaN, whole numbers of
// all bits.
inline Bytes ValuesOf(HcclDataType type, uint32_t rank, uint64_t count, uint64_t seed = 0) {
    Bytes bytes(count * SizeOf(type));
    uint64_t state = seed * 1000003 + rank * 7919 + static_cast<uint64_t>(type) + 1;
    const auto next = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    };
    const auto number = [&next] {
        // By 3, so that sums are rounded and depend on the order.
        return std::ldexp((static_cast<double>(next() % 2001) - 1000.0) / 3,
                          static_cast<int>(next() % 9) - 12);
    };
    constexpr uint64_t kOfTheirOwn = 65521;  // the others repeat them, for the sake of time
    for (uint64_t i = 0; i < std::min(count, kOfTheirOwn); ++i) {
        const double value = number();
        const auto single = static_cast<float>(value);
        const uint16_t half = BitsOf(value, kHalf);
        const uint16_t brain = BitsOf(value, kBrain);
        const uint64_t whole = next() | next() << 31 | next() << 62;
        const void* const from = type == HCCL_DATA_TYPE_FP32    ? static_cast<const void*>(&single)
                                 : type == HCCL_DATA_TYPE_FP64  ? static_cast<const void*>(&value)
                                 : type == HCCL_DATA_TYPE_FP16  ? static_cast<const void*>(&half)
                                 : type == HCCL_DATA_TYPE_BFP16 ? static_cast<const void*>(&brain)
                                                                : static_cast<const void*>(&whole);
        std::memcpy(bytes.data() + i * SizeOf(type), from, SizeOf(type));
    }
    for (size_t i = kOfTheirOwn * SizeOf(type); i < bytes.size(); ++i) {
        bytes[i] = bytes[i - kOfTheirOwn * SizeOf(type)];
    }
    return bytes;
}

// The reduction of the values of ranks, in their order.
inline Bytes Reduced(HcclDataType type, HcclReduceOp op, const std::vector<Bytes>& values) {
    Bytes sum = values[0];
    for (size_t rank = 1; rank < values.size(); ++rank) {
        Add(type, op, &sum, values[rank]);
    }
    return sum;
}

inline std::vector<Bytes> ValuesOfAll(HcclDataType type, uint32_t ranks, uint64_t count,
                                      uint64_t seed = 0) {
    std::vector<Bytes> values;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        values.push_back(ValuesOf(type, rank, count, seed));
    }
    return values;
}

inline Bytes Slice(const Bytes& bytes, size_t begin, size_t size) {
    const auto from = bytes.begin() + static_cast<ptrdiff_t>(begin);
    return Bytes(from, from + static_cast<ptrdiff_t>(size));
}

constexpr HcclDataType kReducedTypes[] = {
    HCCL_DATA_TYPE_INT8,  HCCL_DATA_TYPE_INT16,  HCCL_DATA_TYPE_INT32,
    HCCL_DATA_TYPE_INT64, HCCL_DATA_TYPE_UINT64, HCCL_DATA_TYPE_FP16,
    HCCL_DATA_TYPE_FP32,  HCCL_DATA_TYPE_FP64,   HCCL_DATA_TYPE_BFP16};
constexpr HcclDataType kCopiedTypes[] = {
    HCCL_DATA_TYPE_INT8,   HCCL_DATA_TYPE_INT16,   HCCL_DATA_TYPE_INT32,   HCCL_DATA_TYPE_FP16,
    HCCL_DATA_TYPE_FP32,   HCCL_DATA_TYPE_INT64,   HCCL_DATA_TYPE_UINT64,  HCCL_DATA_TYPE_UINT8,
    HCCL_DATA_TYPE_UINT16, HCCL_DATA_TYPE_UINT32,  HCCL_DATA_TYPE_FP64,    HCCL_DATA_TYPE_BFP16,
    HCCL_DATA_TYPE_HIF8,   HCCL_DATA_TYPE_FP8E4M3, HCCL_DATA_TYPE_FP8E5M2, HCCL_DATA_TYPE_FP8E8M0};
constexpr HcclReduceOp kOps[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX,
                                 HCCL_REDUCE_MIN};

}  // namespace hccl_test

#endif  // ADVANCE_STEP_TESTS_HCCL_REFERENCE_H_
