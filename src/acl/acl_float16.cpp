// SPDX-License-Identifier: Apache-2.0
// Conversions between float and half precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "acl/acl_base.h"

namespace {

constexpr uint32_t kHalfSign = 0x8000;
constexpr uint32_t kMostHalf = 0x7BFF;  // 65504
constexpr int kHalfFractionBits = 10;
constexpr int kHalfBias = 15;
constexpr uint32_t kFloatOfMostHalf = 0x477FE000;
constexpr uint32_t kFloatFractionBits = 23;
constexpr uint32_t kFloatHidden = 1U << kFloatFractionBits;
constexpr uint32_t kLeastNormal = 113;  // a float's exponent of the least normal half, 2^-14
constexpr uint32_t kMostBelow = 12;  // a float that is smaller is less than half of a half's unit

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

// It computes with integers, since the rounding mode of the calling thread must not change the
// result.
aclFloat16 aclFloatToFloat16(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    const uint32_t sign = (bits >> 16) & kHalfSign;
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > kFloatOfMostHalf) {  // true for a NaN too
        return static_cast<aclFloat16>(sign | kMostHalf);
    }
    const uint32_t exponent = magnitude >> kFloatFractionBits;
    const uint32_t hidden = exponent == 0 ? 0 : kFloatHidden;
    const uint32_t significand = (magnitude & (kFloatHidden - 1)) | hidden;
    // A subnormal half has the exponent of the least normal half, so it drops more bits.
    const uint32_t below = exponent < kLeastNormal ? kLeastNormal - exponent : 0;
    const uint32_t dropped = kFloatFractionBits - kHalfFractionBits + std::min(below, kMostBelow);
    const uint32_t units = significand >> dropped;
    const uint32_t rest = significand & ((uint32_t{1} << dropped) - 1);
    const uint32_t half = uint32_t{1} << (dropped - 1);
    const uint32_t up = rest > half || (rest == half && units % 2 == 1) ? 1 : 0;
    // A carry out of the fraction increments the exponent.
    const uint32_t above = below > 0 ? 0 : exponent - kLeastNormal;
    return static_cast<aclFloat16>(sign | (units + up + (above << kHalfFractionBits)));
}
