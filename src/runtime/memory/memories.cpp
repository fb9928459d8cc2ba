// SPDX-License-Identifier: Apache-2.0
// Owns the memory of all devices.
#include "src/runtime/memory/memories.h"

#include "src/base/never_destroyed.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// The two form one object because the second refers to the first. The child of a fork gets a new
// object.
struct Memories {
    DeviceMemory device{&PendingPlaces};
    VirtualMemory mapped{device, &PendingPlaces};
};

Memories& TheMemories() {
    static NeverDestroyed<Memories> memories;
    return *memories;
}

}  // namespace

DeviceMemory& TheDeviceMemory() { return TheMemories().device; }

VirtualMemory& TheVirtualMemory() { return TheMemories().mapped; }

}  // namespace advstep
