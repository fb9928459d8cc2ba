// SPDX-License-Identifier: Apache-2.0
// Checks of return codes, and the device of a benchmark.

#pragma once

#include <cstddef>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

/// Ends the program, with the runtime's message, if a call failed.
void Require(int status);

/// Ends tensors and the device memory under them.
template <size_t kCount>
void EndTensors(aclTensor* const (&tensors)[kCount], void* const (&memory)[kCount]) {
    for (size_t index = 0; index < kCount; ++index) {
        Require(aclDestroyTensor(tensors[index]));
        Require(aclrtFree(memory[index]));
    }
}

/// Device 0 is set in this thread for as long as it lives.
class DeviceInUse {
 public:
    DeviceInUse();
    ~DeviceInUse();
    DeviceInUse(DeviceInUse&&) = delete;
};
