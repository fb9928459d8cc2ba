// SPDX-License-Identifier: Apache-2.0
// The device memory that a server needs, and the check that the device has it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request_source.h"
#include "serve_options.h"

namespace serve {

struct MemoryNeed {
    std::string what;     // "the KV cache"
    std::string options;  // that it is the product of
    int64_t bytes;
};

/// The largest parts; what is left out takes a few hundred bytes a slot.
std::vector<MemoryNeed> MemoryNeeds(const Options& options, const RequestLimits& limits);

/// Of the current device.
/// @throws std::runtime_error  names the largest part and its options
void ExpectDeviceMemory(const Options& options, const RequestLimits& limits);

}  // namespace serve
