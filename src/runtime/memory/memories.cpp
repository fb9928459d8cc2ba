#include "src/runtime/memory/memories.h"

#include "src/base/never_destroyed.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// Together, because the one refers to the other: in a fork's child both are new.
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
