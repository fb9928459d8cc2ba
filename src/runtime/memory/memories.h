// SPDX-License-Identifier: Apache-2.0
// The memory of all devices, and the pinned memory of the host.

#pragma once

#include <cstddef>

#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/virtual_memory.h"

namespace advstep {

// Never destroyed: threads and queued work may outlive main().

DeviceMemory& TheDeviceMemory();
VirtualMemory& TheVirtualMemory();

/// Returns whether the task that the calling thread runs may use the range on a device: it lies in
/// one allocation, each part of which is live or has been freed since the task was queued.
bool UsableInTask(const void* address, size_t bytes);

}  // namespace advstep
