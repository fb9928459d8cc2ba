// SPDX-License-Identifier: Apache-2.0
// The module `advance_step_peer` of peers.py: full calls of AdvanceStep as one function of Python,
// by the stable interface, so that it is the same for all versions from 3.9 on.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "tests/benchmark/peer_calls.h"

namespace {

// run(address): RunAdvanceStepCalls with the structure at that address. It keeps the interpreter's
// lock.
PyObject* Run(PyObject*, PyObject* address) {
    const void* const calls = PyLong_AsVoidPtr(address);
    if (calls == nullptr) {
        if (PyErr_Occurred() == nullptr) {
            PyErr_SetString(PyExc_ValueError, "address is 0; expected that of an AdvanceStepCalls");
        }
        return nullptr;
    }
    return PyLong_FromLong(RunAdvanceStepCalls(static_cast<const AdvanceStepCalls*>(calls)));
}

PyMethodDef methods[] = {{"run", &Run, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "advance_step_peer",
                      nullptr,
                      0,
                      methods,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_advance_step_peer() { return PyModule_Create(&module); }
