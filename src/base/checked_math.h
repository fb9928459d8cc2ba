// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that reports overflow.

#pragma once

#include <cstdint>

namespace advstep {

/// ceil(a / b) for a >= 0, b >= 1; does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Returns false on overflow; *result is then undefined.
inline bool CheckedMul(int64_t a, int64_t b, int64_t* result) {
    return !__builtin_mul_overflow(a, b, result);
}

}  // namespace advstep
