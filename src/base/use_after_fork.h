// SPDX-License-Identifier: Apache-2.0
// The finding that the child of a fork uses a runtime that its parent has used.

#pragma once

#include <atomic>

#include "src/base/sanitizer_settings.h"

namespace advstep {

inline std::atomic<bool> forkedFromUse{false};

/// Returns whether this is the child of a process that used the runtime under the check of
/// synchronisation, and that is not told yet.
inline bool ForkedFromUse() {
    return __builtin_expect(forkedFromUse.load(std::memory_order_relaxed), 0);
}

/// Notes that the runtime is in use from now on, with these settings, or (null) not any more.
void SetRuntimeInUse(const SanitizerSettings* settings);

/// Tells that this child calls the runtime. `call`: the name of the call, or null.
void TellUseAfterFork(const char* call) noexcept;

}  // namespace advstep
