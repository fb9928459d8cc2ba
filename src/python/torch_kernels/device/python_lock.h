// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, which a thread gives away while it waits.

#pragma once

namespace advstep_torch {

/// The calling thread does not have the interpreter's lock in its scope.
class WithoutPython {
 public:
    WithoutPython();
    ~WithoutPython();
    WithoutPython(const WithoutPython&) = delete;
    WithoutPython& operator=(const WithoutPython&) = delete;

 private:
    const bool had_;
    void* const state_;
};

/// Returns whether Ctrl-C waits for the calling thread, which does not have the interpreter's lock.
/// The program's handler runs when that thread is in Python again.
bool Interrupted();

}  // namespace advstep_torch
