// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, which a thread gives away while it waits.

#pragma once

// Python's stable interface. A process without Python has none of it.
extern "C" int PyGILState_Check() __attribute__((weak));
extern "C" void* PyEval_SaveThread() __attribute__((weak));
extern "C" void PyEval_RestoreThread(void*) __attribute__((weak));

namespace advstep_torch {

/// The calling thread does not have the interpreter's lock in its scope.
class WithoutPython {
 public:
    WithoutPython()
        : had_(PyGILState_Check != nullptr && PyGILState_Check() != 0),
          state_(had_ ? PyEval_SaveThread() : nullptr) {}
    ~WithoutPython() {
        if (had_) {
            PyEval_RestoreThread(state_);
        }
    }
    WithoutPython(const WithoutPython&) = delete;
    WithoutPython& operator=(const WithoutPython&) = delete;

 private:
    const bool had_;
    void* const state_;
};

}  // namespace advstep_torch
