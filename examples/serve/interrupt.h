// SPDX-License-Identifier: Apache-2.0
// Signals as a wish to end.

#pragma once

namespace serve {

/// From now on the first SIGINT only makes Interrupted() true; a second one ends the process.
void CatchInterrupt();
bool Interrupted();

/// From now on SIGTERM only makes Terminated() true.
void CatchTerminate();
bool Terminated();

}  // namespace serve
