// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, by Python's stable interface.

#include "torch_kernels/device/python_lock.h"

// Weak, because a process without Python has none of it.
extern "C" int PyGILState_Check() __attribute__((weak));
extern "C" void* PyEval_SaveThread() __attribute__((weak));
extern "C" void PyEval_RestoreThread(void*) __attribute__((weak));
extern "C" int PyGILState_Ensure() __attribute__((weak));
extern "C" void PyGILState_Release(int) __attribute__((weak));
extern "C" int Py_IsInitialized() __attribute__((weak));
extern "C" int PyOS_InterruptOccurred() __attribute__((weak));
extern "C" void PyErr_SetInterrupt() __attribute__((weak));

namespace advstep_torch {

WithoutPython::WithoutPython()
    : had_(PyGILState_Check != nullptr && PyGILState_Check() != 0),
      state_(had_ ? PyEval_SaveThread() : nullptr) {}

WithoutPython::~WithoutPython() {
    if (had_) {
        PyEval_RestoreThread(state_);
    }
}

bool Interrupted() {
    if (Py_IsInitialized == nullptr || Py_IsInitialized() == 0) {
        return false;
    }
    const int state = PyGILState_Ensure();
    const bool interrupted = PyOS_InterruptOccurred() != 0;  // which forgets it
    if (interrupted) {
        PyErr_SetInterrupt();
    }
    PyGILState_Release(state);
    return interrupted;
}

}  // namespace advstep_torch
