// SPDX-License-Identifier: Apache-2.0
// How often each function has queued its task, which tests of clients ask.

#pragma once

#include "src/operators/entry/values.h"

namespace advstep_operators {

/// Counts a phase two that succeeded. Any thread may call it.
void CountCall(const FunctionSpec& function) noexcept;

}  // namespace advstep_operators
