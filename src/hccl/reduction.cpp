// SPDX-License-Identifier: Apache-2.0
// The table of reductions: one loop for each data type and operation.

#include "src/hccl/reduction.h"

#include <cstring>
#include <type_traits>

namespace advstep::hccl {
namespace {

uint32_t BitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float FloatOf(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// float16 as it lies in memory. A float holds each sum and product of two of them well enough to
// be rounded once more without an error: it has more than twice their digits and 2 more.
struct Half {
    uint16_t bits;

    operator float() const {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
        const uint32_t rest = bits & 0x7fffu;
        if (rest >= 0x7c00u) {  // infinite, or no number
            return FloatOf(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
        }
        // The exponent is 112 too small, which a product sets right, also for subnormal numbers.
        return FloatOf(sign | BitsOf(FloatOf(rest << 13) * FloatOf((127u + 112u) << 23)));
    }

    static Half Of(float value) {
        const uint32_t bits = BitsOf(value);
        const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
        const uint32_t rest = bits & 0x7fffffffu;
        if (rest > 0x7f800000u) {
            return {static_cast<uint16_t>(sign | 0x7e00u)};
        }
        if (rest >= 0x477ff000u) {  // 65520 and more: rounded away from the largest number
            return {static_cast<uint16_t>(sign | 0x7c00u)};
        }
        if (rest < 0x38800000u) {  // subnormal: a sum with 0.5 rounds at the last digit
            return {static_cast<uint16_t>(sign | (BitsOf(FloatOf(rest) + 0.5F) - BitsOf(0.5F)))};
        }
        const uint32_t odd = (rest >> 13) & 1u;
        return {static_cast<uint16_t>(sign | ((rest - (112u << 23) + 0xfffu + odd) >> 13))};
    }
};

// bfloat16 as it lies in memory.
struct Brain {
    uint16_t bits;

    operator float() const { return FloatOf(static_cast<uint32_t>(bits) << 16); }

    static Brain Of(float value) {
        const uint32_t bits = BitsOf(value);
        if ((bits & 0x7fffffffu) > 0x7f800000u) {
            return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
        }
        return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
    }
};

template <typename T>
constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

template <typename T>
bool IsNan(T value) {
    if constexpr (std::is_integral_v<T>) {
        return false;
    } else {
        return value != value;
    }
}

struct Sum {
    template <typename T>
    static T Of(T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        } else {
            return a + b;
        }
    }
};

struct Product {
    template <typename T>
    static T Of(T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        } else {
            return a * b;
        }
    }
};

struct Greatest {
    template <typename T>
    static T Of(T a, T b) {
        return IsNan(a) || a >= b ? a : b;
    }
};

struct Least {
    template <typename T>
    static T Of(T a, T b) {
        return IsNan(a) || a <= b ? a : b;
    }
};

template <typename Op, typename T>
T Apply(T a, T b) {
    if constexpr (kIsSmallFloat<T>) {
        return T::Of(Op::Of(static_cast<float>(a), static_cast<float>(b)));
    } else {
        return Op::Of(a, b);
    }
}

template <typename Op, typename T>
void Loop(void* sum, const void* addend, uint64_t count) {
    auto* const bytes = static_cast<char*>(sum);
    const auto* const added = static_cast<const char*>(addend);
    for (uint64_t i = 0; i < count; ++i) {
        T a;
        T b;
        std::memcpy(&a, bytes + i * sizeof(T), sizeof(T));
        std::memcpy(&b, added + i * sizeof(T), sizeof(T));
        a = Apply<Op>(a, b);
        std::memcpy(bytes + i * sizeof(T), &a, sizeof(T));
    }
}

template <typename T>
void ReduceTyped(HcclReduceOp op, void* sum, const void* addend, uint64_t count) {
    switch (op) {
        case HCCL_REDUCE_SUM:
            return Loop<Sum, T>(sum, addend, count);
        case HCCL_REDUCE_PROD:
            return Loop<Product, T>(sum, addend, count);
        case HCCL_REDUCE_MAX:
            return Loop<Greatest, T>(sum, addend, count);
        default:
            return Loop<Least, T>(sum, addend, count);
    }
}

}  // namespace

void Reduce(HcclDataType type, HcclReduceOp op, void* sum, const void* addend, uint64_t count) {
    switch (type) {
        case HCCL_DATA_TYPE_INT8:
            return ReduceTyped<int8_t>(op, sum, addend, count);
        case HCCL_DATA_TYPE_INT16:
            return ReduceTyped<int16_t>(op, sum, addend, count);
        case HCCL_DATA_TYPE_INT32:
            return ReduceTyped<int32_t>(op, sum, addend, count);
        case HCCL_DATA_TYPE_INT64:
            return ReduceTyped<int64_t>(op, sum, addend, count);
        case HCCL_DATA_TYPE_UINT64:
            return ReduceTyped<uint64_t>(op, sum, addend, count);
        case HCCL_DATA_TYPE_FP16:
            return ReduceTyped<Half>(op, sum, addend, count);
        case HCCL_DATA_TYPE_BFP16:
            return ReduceTyped<Brain>(op, sum, addend, count);
        case HCCL_DATA_TYPE_FP64:
            return ReduceTyped<double>(op, sum, addend, count);
        default:
            return ReduceTyped<float>(op, sum, addend, count);
    }
}

}  // namespace advstep::hccl
