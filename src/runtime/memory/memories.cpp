// SPDX-License-Identifier: Apache-2.0
// Owns the memory of all devices.
#include "src/runtime/memory/memories.h"

#include <utility>

#include "src/base/never_destroyed.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// The two form one object because the second refers to the first. The child of a fork gets a new
// object.
struct Memories {
    DeviceMemory device{&PendingPlaces};
    VirtualMemory mapped{device};
};

Memories& TheMemories() {
    static NeverDestroyed<Memories> memories;
    return *memories;
}

// Live memory comes first: what leaves it meanwhile is found among what is kept, because both
// objects enter it there before they release the lock under which it leaves.
bool FindInTask(const void* address, Allocation* allocation) {
    return TheDeviceMemory().Find(address, allocation) ||
           TheDeviceMemory().FindRetired(address, allocation) ||
           TheVirtualMemory().FindRetired(address, allocation);
}

bool AreOneAllocation(const Allocation& part, const Allocation& next) {
    return part.origin == MemoryOrigin::kMapped && next.origin == MemoryOrigin::kMapped &&
           part.reservation == next.reservation && part.device == next.device;
}

}  // namespace

DeviceMemory& TheDeviceMemory() { return TheMemories().device; }

VirtualMemory& TheVirtualMemory() { return TheMemories().mapped; }

bool NarrowHeldMemory() noexcept {
    const bool blocks = TheDeviceMemory().Narrow();
    return TheVirtualMemory().Narrow() || blocks;
}

Status WithHeldUp(const Device* device, Status failure) {
    HeldUp held;
    TheDeviceMemory().AddHeldUp(device, &held);
    TheVirtualMemory().AddHeldUp(device, &held);
    return held.bytes() == 0 ? std::move(failure)
                             : Error(failure.code(), "{}; {}", failure.message(), held.Text());
}

std::vector<Ticket> PlacesThatUse(HeldMemory::Freed range, std::vector<Ticket>&& pending) {
    const uint64_t number = range.number;
    range.pending = std::move(pending);
    HeldMemory held;
    held.Add(std::move(range));
    held.Narrow(&ListPendingMemory);
    return std::move(held.Find(number)->pending);
}

// Mapped neighbours are one allocation, also if some of them have been unmapped since.
bool UsableInTask(const void* address, size_t bytes) {
    Allocation part;
    if (!FindInTask(address, &part) || !part.UsableOnDevice()) {
        return false;
    }
    while (part.BytesFrom(address) < bytes) {
        const auto* const end = reinterpret_cast<const void*>(part.end());
        bytes -= part.BytesFrom(address);
        Allocation next;
        if (!FindInTask(end, &next) || !AreOneAllocation(part, next)) {
            return false;
        }
        address = end;
        part = next;
    }
    return true;
}

}  // namespace advstep
