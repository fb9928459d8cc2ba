// SPDX-License-Identifier: Apache-2.0
// Stands for the PoCL queue where OpenCL is not installed.

#include "tests/benchmark/pocl_queue.h"

std::shared_ptr<PoclQueue> PoclQueue::Open(std::string* whyNot) {
    *whyNot = "built without OpenCL (ocl-icd-opencl-dev)";
    return nullptr;
}
