// SPDX-License-Identifier: Apache-2.0
// Stops a pthread_exit that a function of the program makes while the library calls it.

#pragma once

namespace advstep {

/// The library calls this in a `catch (...)` block around a function of the program. Returns true
/// if the function has called pthread_exit, or if the thread was cancelled in it; the thread then
/// continues after the block. Returns false if the block has caught a C++ exception. If the thread
/// is also in a catch block of a C++ exception while it calls pthread_exit, it cannot be saved: the
/// C++ library ends the process first.
bool StopThreadExit() noexcept;

}  // namespace advstep
