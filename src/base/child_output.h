// SPDX-License-Identifier: Apache-2.0
// Runs a tool of the machine and reads what it prints, within a time.

#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace advstep {

/// Runs a program and appends what it writes to standard output. `arguments` begins with its path.
/// Returns false if it cannot be started, or has not closed its output at `end`; it is ended then.
///
/// It gets no descriptor of this process, an empty standard input, and an environment of PATH and
/// LC_ALL=C alone, so that no variable of this process loads a library into it. The hooks of fork
/// do not run. A signal handler must not call this, and the caller holds back cancellation.
bool ReadOutputOf(const std::vector<std::string>& arguments,
                  std::chrono::steady_clock::time_point end, std::string* output);

}  // namespace advstep
