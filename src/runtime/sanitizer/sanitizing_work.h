// SPDX-License-Identifier: Apache-2.0
// Whether the checks of work are on.

#pragma once

#include "src/base/sanitizer.h"

namespace advstep {

/// Returns whether one of the checks memory, race and init is on. If not, nothing is told.
inline bool SanitizingWork() {
    constexpr uint32_t kChecks = BitOf(SanitizerCheck::kMemory) | BitOf(SanitizerCheck::kRace) |
                                 BitOf(SanitizerCheck::kInit);
    return __builtin_expect((sanitizerChecks.load(std::memory_order_relaxed) & kChecks) != 0, 0);
}

}  // namespace advstep
