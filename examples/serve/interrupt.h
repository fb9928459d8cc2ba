// SPDX-License-Identifier: Apache-2.0
// Signals as a wish to end.

#pragma once

#include <stdexcept>

namespace serve {

/// From now on the first SIGINT, and the first SIGTERM, only makes Interrupted() true. Another one
/// ends the process if it comes a second later: `timeout` sends its signal to a process and once
/// more to its group.
void CatchInterrupt();
bool Interrupted();

/// The run has not begun, and will not.
class InterruptedEarly : public std::runtime_error {
 public:
    InterruptedEarly() : std::runtime_error("interrupted before the run; no file is written") {}
};

/// For what takes long before the run.
/// @throws InterruptedEarly  Interrupted()
void ThrowIfInterrupted();

/// From now on SIGTERM only makes Terminated() true.
void CatchTerminate();
bool Terminated();

}  // namespace serve
