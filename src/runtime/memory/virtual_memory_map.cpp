// SPDX-License-Identifier: Apache-2.0
// Maps physical memory at reserved addresses, and unmaps it.
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/virtual_memory.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {

Status VirtualMemory::Map(void* address, size_t bytes, size_t offset, Handle handle) {
    for (;;) {
        std::vector<Ticket> earlier;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ReclaimLocked();
            ADVSTEP_RETURN_IF_ERROR(
                MapLocked(reinterpret_cast<uintptr_t>(address), bytes, offset, handle, &earlier));
        }
        if (earlier.empty()) {
            return {};
        }
        // Work that was queued before an aclrtUnmapMem still needs the old memory at this address.
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        for (const Ticket& ticket : earlier) {
            ADVSTEP_RETURN_IF_ERROR(WaitFor(ticket, ToTheEnd()));
        }
    }
}

// Maps the range, or stores in `earlier` the places that have to be waited for first.
Status VirtualMemory::MapLocked(uintptr_t begin, size_t bytes, size_t offset, Handle handle,
                                std::vector<Ticket>* earlier) {
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    if (offset > physical->bytes || bytes > physical->bytes - offset) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "size is {} at offset {}; expected both inside the {} bytes of the handle",
                     bytes, offset, physical->bytes);
    }
    const auto around = FindOverlap(reservations_, begin, 1);
    if (around == reservations_.end() || around->second.released ||
        around->second.bytes - (begin - around->first) < bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "virPtr is {:#x} with size {}; expected a range inside one reservation of "
                     "aclrtReserveMemAddress",
                     begin, bytes);
    }
    for (auto other = FindOverlap(mappings_, begin, bytes); other != mappings_.end();
         other = FindOverlap(mappings_, begin, bytes)) {
        if (!other->second.retired) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "virPtr is {:#x} with size {}, where memory is mapped at {:#x}; expected "
                         "aclrtUnmapMem before",
                         begin, bytes, other->first);
        }
        // Its places may have been reached since the last look at the device's oldest ranges.
        if (TakeDown(&other->second)) {
            continue;
        }
        if (other->second.pending.empty()) {
            return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "virPtr is {:#x}, where the host could not unmap; expected fewer mappings "
                         "in the process",
                         begin);
        }
        *earlier = other->second.pending;
        return {};
    }
    return PlaceMapping({begin, bytes, physical, &around->second, false, {}}, offset);
}

Status VirtualMemory::PlaceMapping(const Mapping& mapping, uint64_t offset) {
    const auto entry = mappings_.emplace(mapping.begin, mapping).first;
    Status mapped = PagePool::MapAt(reinterpret_cast<void*>(mapping.begin), mapping.bytes,
                                    mapping.physical->File(), mapping.physical->Offset() + offset);
    if (!mapped.ok()) {
        mappings_.erase(entry);
        return mapped;
    }
    ++mapping.physical->mappings;
    ++mapping.reservation->mappings;
    try {
        memory_.EnterMapped({mapping.begin, mapping.bytes, MemoryKind::kDevice,
                             mapping.physical->device, MemoryOrigin::kMapped,
                             mapping.reservation->begin, mapping.reservation->born});
    } catch (...) {
        // No work uses the range, so it is taken down at once.
        entry->second.retired = true;
        EnterRetired(&entry->second);
        TakeDown(&entry->second);
        throw;
    }
    return {};
}

Status VirtualMemory::Unmap(void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = mappings_.find(reinterpret_cast<uintptr_t>(address));
    if (found == mappings_.end() || found->second.retired) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "virPtr is {}, not the start of a mapping; expected an address of aclrtMapMem",
                     address);
    }
    RetireLocked(found->second);
    ReclaimLocked();
    return {};
}

// As for freed blocks (DeviceMemory::RetireLocked), work whose check found the range is queued by
// now, or the program unmaps memory that another thread is about to use.
void VirtualMemory::RetireLocked(Mapping& mapping) {
    std::vector<Ticket> pending = pendingPlaces_(mapping.physical->device);
    memory_.LeaveMapped(mapping.begin, mapping.bytes);
    mapping.retired = true;
    mapping.pending = std::move(pending);
    EnterRetired(&mapping);
}

// The retired mapping is VirtualMemory's own and is taken down under this lock, and only when its
// places have been reached, which the running task prevents after the lock is released. A mapping
// is retired under the lock after it has left DeviceMemory, so retiredCount_ may be 0 until then.
bool VirtualMemory::FindKept(const void* address, Allocation* allocation) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = FindOverlap(mappings_, reinterpret_cast<uintptr_t>(address), 1);
    if (found == mappings_.end() || !found->second.retired ||
        !InsideTaskBefore(found->second.pending)) {
        return false;
    }
    const Mapping& mapping = found->second;
    *allocation = {mapping.begin,         mapping.bytes,
                   MemoryKind::kDevice,   mapping.physical->device,
                   MemoryOrigin::kMapped, mapping.reservation->begin};
    return true;
}

void VirtualMemory::EnterRetired(Mapping* mapping) {
    RetiredMappings& retired = retired_.at(mapping->physical->device);
    mapping->olderRetired = retired.last;
    (retired.last == nullptr ? retired.first : retired.last->newerRetired) = mapping;
    retired.last = mapping;
    retiredCount_.fetch_add(1, std::memory_order_relaxed);
}

void VirtualMemory::LeaveRetired(Mapping* mapping) {
    RetiredMappings& retired = retired_.at(mapping->physical->device);
    Mapping* const older = mapping->olderRetired;
    Mapping* const newer = mapping->newerRetired;
    (older == nullptr ? retired.first : older->newerRetired) = newer;
    (newer == nullptr ? retired.last : newer->olderRetired) = older;
    retiredCount_.fetch_sub(1, std::memory_order_relaxed);
}

void VirtualMemory::Reclaim() {
    if (retiredCount_.load(std::memory_order_relaxed) > 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ReclaimLocked();
    }
}

void VirtualMemory::ReclaimLocked() {
    if (retiredCount_.load(std::memory_order_relaxed) == 0) {
        return;
    }
    for (auto& [device, retired] : retired_) {
        while (retired.first != nullptr && TakeDown(retired.first)) {
        }
    }
}

// Unmaps a retired range. False: work still uses it (`pending` is not empty), or the host cannot
// unmap it now. A later call tries again.
bool VirtualMemory::TakeDown(Mapping* mapping) {
    while (!mapping->pending.empty()) {
        if (!Reached(mapping->pending.back())) {
            return false;
        }
        mapping->pending.pop_back();
    }
    if (!VacateAddresses(reinterpret_cast<void*>(mapping->begin), mapping->bytes)) {
        return false;
    }
    PhysicalMemory* const physical = mapping->physical;
    Reservation* const reservation = mapping->reservation;
    LeaveRetired(mapping);
    mappings_.erase(mapping->begin);
    --physical->mappings;
    --reservation->mappings;
    GiveBackIfUnused(physical);
    GiveBackIfUnused(reservation);
    return true;
}

}  // namespace advstep
