// The memory of all devices, and of the host as far as it is pinned.
#pragma once

#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/virtual_memory.h"

namespace advstep {

// Never destroyed: threads and queued work may outlive main().

DeviceMemory& TheDeviceMemory();
VirtualMemory& TheVirtualMemory();

}  // namespace advstep
