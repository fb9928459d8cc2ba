// SPDX-License-Identifier: Apache-2.0
// Signals as a wish to end.

#pragma once

#include <stdexcept>
#include <string>

namespace serve {

/// From now on the first SIGINT, and the first SIGTERM, only makes Interrupted() true. Another one
/// ends the process if it comes a second later: `timeout` sends its signal to a process and once
/// more to its group.
void CatchInterrupt();
bool Interrupted();

/// The same with Terminated() in the place of Interrupted(), for a process of several, which does
/// not end its part of a run alone.
void CatchTerminate();
bool Terminated();
/// "SIGINT" or "SIGTERM", when either came.
const char* SignalName();

/// From now on a signal that ends the process removes the file first. Nothing happens if the file
/// is gone by then. At most 16 files of a process are remembered.
void RemoveWhenEnded(const std::string& path);

/// The run has not begun, and will not.
class InterruptedEarly : public std::runtime_error {
 public:
    InterruptedEarly() : std::runtime_error("interrupted before the run") {}
};

/// For what takes long before the run.
/// @throws InterruptedEarly  Interrupted() or Terminated()
void ThrowIfInterrupted();

}  // namespace serve
