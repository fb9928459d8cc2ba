// SPDX-License-Identifier: Apache-2.0
// The exit status of a process that ends well although something was found in it.

#pragma once

namespace advstep {

/// Prepares FailAtExit. It is called before a hook is registered that may call it: hooks run in the
/// reverse order, and this one's must be the last.
void PrepareExitStatus() noexcept;

/// Lets the process end with EXIT_FAILURE where it would end with EXIT_SUCCESS. The child of a fork
/// begins without it.
void FailAtExit() noexcept;

}  // namespace advstep
