// SPDX-License-Identifier: Apache-2.0
// Reduces the elements of a core, in each type.

#include "op_kernel/reduce/reduce_kernel.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "op_kernel/common/kernel.h"

namespace advstep {
namespace {

uint32_t BitsOf(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float FloatOf(uint32_t bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

// Drops the lowest bits of a value, rounded to nearest, and halfway to the even neighbour.
uint32_t RoundToEven(uint32_t value, uint32_t dropped) {
    const uint32_t half = 1U << (dropped - 1);
    const uint32_t kept = value >> dropped;
    const uint32_t rest = value & ((1U << dropped) - 1);
    return kept + ((rest > half || (rest == half && (kept & 1U) != 0)) ? 1U : 0U);
}

struct Bfloat16 {
    uint16_t bits;

    float Widen() const { return FloatOf(static_cast<uint32_t>(bits) << 16); }
    static Bfloat16 Narrow(float value) {
        const uint32_t from = BitsOf(value);
        if (std::isnan(value)) {
            return {static_cast<uint16_t>((from >> 16) | 0x40U)};  // a NaN, and a quiet one
        }
        return {static_cast<uint16_t>(RoundToEven(from, 16))};
    }
};

struct Float16 {
    uint16_t bits;

    float Widen() const {
        const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
        const uint32_t exponent = (bits >> 10) & 0x1FU;
        const uint32_t fraction = bits & 0x3FFU;
        if (exponent == 0x1F) {
            return FloatOf(sign | 0x7F800000U | (fraction << 13));
        }
        if (exponent == 0) {
            const float tiny = static_cast<float>(fraction) * 0x1p-24F;
            return FloatOf(sign | BitsOf(tiny));
        }
        return FloatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
    }
    static Float16 Narrow(float value) {
        const uint32_t from = BitsOf(value);
        const auto sign = static_cast<uint16_t>((from >> 16) & 0x8000U);
        const uint32_t size = from & 0x7FFFFFFFU;
        if (size > 0x7F800000U) {
            return {static_cast<uint16_t>(sign | 0x7E00U)};
        }
        constexpr uint32_t kOverflow = 0x477FF000U;  // 65520, halfway to 2^16
        if (size >= kOverflow) {
            return {static_cast<uint16_t>(sign | 0x7C00U)};
        }
        constexpr uint32_t kLeastNormal = 0x38800000U;  // 2^-14
        if (size >= kLeastNormal) {
            return {static_cast<uint16_t>(sign | RoundToEven(size - (112U << 23), 13))};
        }
        // The nearest multiple of 2^-24; adding 0.5 lets the float's own rounding find it.
        const uint32_t subnormal = BitsOf(FloatOf(size) + 0.5F) - BitsOf(0.5F);
        return {static_cast<uint16_t>(sign | subnormal)};
    }
};

template <typename T>
struct Arithmetic {
    static T Sum(T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            using Unsigned = std::make_unsigned_t<T>;
            return static_cast<T>(
                static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
        } else {
            return a + b;
        }
    }
    static bool IsNan(T a) {
        if constexpr (std::is_integral_v<T>) {
            return false;
        } else {
            return std::isnan(a);
        }
    }
    static T Apply(ReduceKind kind, T a, T b) {
        switch (kind) {
            case ReduceKind::kSum:
                return Sum(a, b);
            case ReduceKind::kMax:
                return IsNan(a) || (!IsNan(b) && a >= b) ? a : b;
            case ReduceKind::kMin:
                return IsNan(a) || (!IsNan(b) && a <= b) ? a : b;
            default:
                return static_cast<T>(a == b ? 1 : 0);
        }
    }
};

template <typename T>
T ReduceOne(ReduceKind kind, T a, T b) {
    if constexpr (std::is_arithmetic_v<T>) {
        return Arithmetic<T>::Apply(kind, a, b);
    } else {
        return T::Narrow(Arithmetic<float>::Apply(kind, a.Widen(), b.Widen()));
    }
}

template <typename T>
void ReduceRange(const ReducePayload& payload, RowRange range) {
    auto* const dst = static_cast<unsigned char*>(payload.dst);
    const auto* const src = static_cast<const unsigned char*>(payload.src);
    for (int64_t i = range.begin; i < range.end; ++i) {
        const size_t at = static_cast<size_t>(i) * sizeof(T);
        T a;
        T b;
        std::memcpy(&a, dst + at, sizeof(T));
        std::memcpy(&b, src + at, sizeof(T));
        const T result = ReduceOne(payload.kind, a, b);
        std::memcpy(dst + at, &result, sizeof(T));
    }
}

void Reduce(const CoreContext& core, const void* bytes) {
    const auto& payload = *static_cast<const ReducePayload*>(bytes);
    const RowRange range =
        RowsOf(core.index, payload.elementsPerCore, payload.elements, core.count);
    switch (payload.type) {
        case ReduceType::kInt8:
            return ReduceRange<int8_t>(payload, range);
        case ReduceType::kInt16:
            return ReduceRange<int16_t>(payload, range);
        case ReduceType::kInt32:
            return ReduceRange<int32_t>(payload, range);
        case ReduceType::kFloat16:
            return ReduceRange<Float16>(payload, range);
        case ReduceType::kBfloat16:
            return ReduceRange<Bfloat16>(payload, range);
        case ReduceType::kFloat:
            return ReduceRange<float>(payload, range);
    }
}

KernelProgram MakeProgram() {
    KernelProgram program;
    program.call = "aclrtReduceAsync";
    program.phaseCount = 1;
    program.phases[0].run = &Reduce;
    program.phases[0].merges = true;
    program.evenRows = true;
    return program;
}

}  // namespace

const KernelProgram kReduceProgram = MakeProgram();

}  // namespace advstep
