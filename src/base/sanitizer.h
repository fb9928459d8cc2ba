// SPDX-License-Identifier: Apache-2.0
// Which checks of the sanitizer are on, and the reports of what they find.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/finding.h"
#include "src/base/sanitizer_settings.h"
#include "src/base/status.h"

namespace advstep {

inline std::atomic<uint32_t> sanitizerChecks{0};  // bits of SanitizerCheck

/// Returns whether a check is on. A program without the sanitizer pays one branch, which is
/// predicted.
inline bool Sanitizing(SanitizerCheck check) {
    return __builtin_expect((sanitizerChecks.load(std::memory_order_relaxed) & BitOf(check)) != 0,
                            0);
}

/// Returns whether any check is on.
inline bool SanitizingAny() {
    return __builtin_expect(sanitizerChecks.load(std::memory_order_relaxed) != 0, 0);
}

/// Takes the settings, when the runtime starts. The child of a fork is without the sanitizer until
/// its runtime starts. 100008: the file for findings cannot be opened.
Status StartSanitizer(const SanitizerSettings& settings);

/// Prints a finding on standard error and adds it to the file, unless it is suppressed or was
/// reported before. Such a one is counted, and the end of the process tells how often it was found.
/// With SanitizerAction::kStop the process ends here, by abort(). A lock may be held: it calls no
/// function of the program, and takes no lock but its own.
void Report(const Finding& finding) noexcept;

/// Counts a finding of that kind and those first two stacks if it was reported before, or was
/// suppressed. False: it is new. It costs less than to make the Finding again.
bool CountIfReported(SanitizerCheck check, const char* kind, const CallStack& first,
                     const CallStack& second) noexcept;

}  // namespace advstep
