// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that does not overflow.

#pragma once

#include <cstdint>

namespace advstep {

/// Returns a / b, rounded up, for a >= 0 and b >= 1. It does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace advstep
