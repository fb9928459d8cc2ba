// SPDX-License-Identifier: Apache-2.0
// Keeps pthread_exit of a function of the program inside the library's call of that function.

#pragma once

namespace advstep {

/// Called in a `catch (...)` block around a function of the program. If the function has called
/// pthread_exit, or the thread was cancelled there, returns true, and the thread goes on after the
/// block; otherwise the block has caught an exception of C++. A thread that is in another catch
/// block meanwhile, of a C++ exception, cannot be saved: the C++ library ends the process before.
bool StopThreadExit() noexcept;

}  // namespace advstep
