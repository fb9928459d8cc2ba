// SPDX-License-Identifier: Apache-2.0
// The memory of all devices, and the pinned memory of the host.

#pragma once

#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/virtual_memory.h"

namespace advstep {

// Never destroyed: threads and queued work may outlive main().

DeviceMemory& TheDeviceMemory();
VirtualMemory& TheVirtualMemory();

}  // namespace advstep
