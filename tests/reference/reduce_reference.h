// SPDX-License-Identifier: Apache-2.0
// The reduction of two arrays as plain loops, with half floats by way of exact doubles.
#ifndef ADVANCE_STEP_TESTS_REFERENCE_REDUCE_REFERENCE_H_
#define ADVANCE_STEP_TESTS_REFERENCE_REDUCE_REFERENCE_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace reference {

// A small float of `exponentBits` and `fractionBits`; all its values are exact doubles.
struct SmallFloat {
    int exponentBits;
    int fractionBits;

    int Bias() const { return (1 << (exponentBits - 1)) - 1; }
    uint32_t Special() const { return ((1U << exponentBits) - 1) << fractionBits; }

    double Value(uint32_t bits) const {
        const uint32_t size = bits & ((1U << (exponentBits + fractionBits)) - 1);
        const double sign = (bits >> (exponentBits + fractionBits)) != 0 ? -1.0 : 1.0;
        if (size > Special()) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        if (size == Special()) {
            return sign * std::numeric_limits<double>::infinity();
        }
        const auto exponent = static_cast<int>(size >> fractionBits);
        const uint32_t fraction = size & ((1U << fractionBits) - 1);
        const uint32_t whole = exponent == 0 ? fraction : fraction | (1U << fractionBits);
        return sign * std::ldexp(whole, (exponent == 0 ? 1 : exponent) - Bias() - fractionBits);
    }
    // The nearest value, of two the even one: by its definition, from the neighbours in order.
    uint32_t Nearest(double value) const {
        const uint32_t sign = std::signbit(value) ? 1U << (exponentBits + fractionBits) : 0;
        const double size = std::fabs(value);
        uint32_t low = 0;
        uint32_t high = Special();  // as if the exponents went on: the first that is too large
        while (low + 1 < high) {
            const uint32_t middle = (low + high) / 2;
            (Value(middle) <= size ? low : high) = middle;
        }
        const double next = high == Special() ? std::ldexp(1.0, Bias() + 1) : Value(high);
        const double down = size - Value(low);
        const double up = next - size;
        const bool isHigh = down > up || (down == up && low % 2 == 1);
        return sign | (isHigh ? high : low);
    }
};

// 10 sum, 11 maximum, 12 minimum, 13 equal, as aclrtReduceKind.
inline double Reduced(int kind, double a, double b) {
    if (kind == 10) {
        return a + b;
    }
    if (kind == 13) {
        return a == b ? 1 : 0;
    }
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return kind == 11 ? std::fmax(a, b) : std::fmin(a, b);
}

}  // namespace reference

#endif  // ADVANCE_STEP_TESTS_REFERENCE_REDUCE_REFERENCE_H_
