// SPDX-License-Identifier: Apache-2.0
// Conversions between float and half precision.
#include <cmath>
#include <cstdint>

#include "acl/acl_base.h"

namespace {

constexpr uint32_t kHalfSign = 0x8000;
constexpr uint32_t kMostHalf = 0x7BFF;  // 65504
constexpr int kHalfFractionBits = 10;
constexpr int kHalfBias = 15;

}  // namespace

float aclFloat16ToFloat(aclFloat16 value) {
    const int exponent = (value >> kHalfFractionBits) & 0x1F;
    const int fraction = value & 0x3FF;
    // A subnormal half has no hidden bit, and the exponent of the least normal half.
    const int significand = exponent == 0 ? fraction : fraction | 1 << kHalfFractionBits;
    const int scale = (exponent == 0 ? 1 : exponent) - kHalfBias - kHalfFractionBits;
    const float magnitude = std::ldexp(static_cast<float>(significand), scale);
    return (value & kHalfSign) != 0 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
    const uint32_t sign = std::signbit(value) ? kHalfSign : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    if (!(magnitude <= 65504.0)) {  // true for a NaN too
        return static_cast<aclFloat16>(sign | kMostHalf);
    }
    if (magnitude == 0) {
        return static_cast<aclFloat16>(sign);
    }
    int exponent = 0;
    (void)std::frexp(magnitude, &exponent);  // magnitude = [0.5, 1) * 2^exponent
    const int least = 1 - kHalfBias + 1;     // the exponent of the least normal half, in that form
    const int unit = (exponent < least ? least : exponent) - 1 - kHalfFractionBits;
    // nearbyint rounds to nearest even. A carry out of the fraction increments the exponent.
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    const auto above = static_cast<uint32_t>(exponent < least ? 0 : exponent - least);
    return static_cast<aclFloat16>(sign | (units + (above << kHalfFractionBits)));
}
