// SPDX-License-Identifier: Apache-2.0
// A tensor of an operator as bytes, for those who look at all of them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "device_buffer.h"

namespace serve {

struct DeviceArray {
    const char* name;  // the operator and the parameter: "Step.freeList"
    void* data;        // device
    size_t bytes;
    /// Of token ids, a row per slot: columns. What is behind a slot's tokens means nothing.
    /// 0: every byte counts.
    int64_t tokenColumns = 0;
};

template <typename T>
DeviceArray ArrayOf(const char* name, const DeviceBuffer<T>& buffer) {
    return {name, buffer.Data(), buffer.BytesFrom(0)};
}

}  // namespace serve
