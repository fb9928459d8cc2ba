// SPDX-License-Identifier: Apache-2.0
// Allocates, finds and frees memory, and defers frees until earlier work has run.

#include "src/runtime/memory/device_memory.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/memory/imported_block.h"
#include "src/runtime/memory/memory_block.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
Status DeviceMemory::ChargeLocked(const Device* device, size_t bytes) {
    const uint64_t total = device->settings().memoryBytes;
    Owned& owned = owned_[device];
    uint64_t& used = owned.used;
    const uint64_t free = total - std::min(used, total);
    if (bytes > free) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes; expected at most the {} bytes that are free of the {} of "
                     "device {}",
                     bytes, free, total, device->id());
    }
    used += bytes;
    owned.peak = std::max(owned.peak, used);
    return {};
}

Status DeviceMemory::Charge(const Device* device, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    return ChargeLocked(device, bytes);
}

void DeviceMemory::Credit(const Device* device, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    owned_[device].used -= bytes;
}

Status DeviceMemory::Allocate(MemoryKind kind, const Device* device, size_t bytes, void** address) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    if (kind == MemoryKind::kDevice) {
        ADVSTEP_RETURN_IF_ERROR(ChargeLocked(device, bytes));
    }
    Owned& owned = owned_[device];
    Allocation allocation{0, bytes, kind, device};
    void* memory = nullptr;
    try {
        BlockSource source;
        memory = TakeBlock(bytes, device, &source);
        allocation.guard = source.guard;
        allocation.pages = source.pages;
    } catch (...) {
        GiveBackLocked(allocation);
        throw;
    }
    allocation.begin = reinterpret_cast<uintptr_t>(memory);
    allocation.born = epoch();
    if (memory == nullptr) {
        GiveBackLocked(allocation);
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes; expected no more than the host can give", bytes);
    }
    DropStaleLocked(allocation.begin, bytes);
    try {
        ++owned.blocks;
        ReserveRetired(&owned);
        live_.emplace(allocation.begin, allocation);
    } catch (...) {
        --owned.blocks;
        live_.erase(allocation.begin);
        GiveBackLocked(allocation);
        throw;
    }
    *address = memory;
    return {};
}

Status DeviceMemory::FindFreeableLocked(MemoryKind kind, const void* address,
                                        Live::const_iterator* it) const {
    *it = live_.find(reinterpret_cast<uintptr_t>(address));
    if (*it != live_.end() && (*it)->second.kind == kind &&
        (*it)->second.origin == MemoryOrigin::kAllocated) {
        return {};
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is {}, not the start of a live allocation; expected an address of {}",
                 kind == MemoryKind::kDevice ? "devPtr" : "hostPtr", address,
                 kind == MemoryKind::kDevice ? "aclrtMalloc" : "aclrtMallocHost");
}

Status DeviceMemory::FindFreeable(MemoryKind kind, const void* address,
                                  Allocation* allocation) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    Live::const_iterator found;
    ADVSTEP_RETURN_IF_ERROR(FindFreeableLocked(kind, address, &found));
    *allocation = found->second;
    return {};
}

Status DeviceMemory::Free(MemoryKind kind, void* address) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    Live::const_iterator found;
    ADVSTEP_RETURN_IF_ERROR(FindFreeableLocked(kind, address, &found));
    RetireLocked(found->second);
    EndRegistrationsInsideLocked(found->second);
    live_.erase(found);
    ReclaimLocked();
    return {};
}

// The allocation leaves the map under this lock, so no check finds it any more. Work whose check
// found it is queued by now, unless another thread is between its check and its queueing. That is a
// race of the program, which frees memory that another thread is about to use.
void DeviceMemory::RetireLocked(const Allocation& allocation) {
    if (allocation.guard != nullptr) {
        // The edges are checked now, while the stack still shows the caller.
        GuardedMemory::Instance().CheckEdges(*allocation.guard);
    }
    Owned& owned = owned_.at(allocation.device);
    epoch_.fetch_add(1, std::memory_order_release);
    owned.retired.push_back({allocation, pendingPlaces_(allocation.device)});
    --owned.blocks;
    WithdrawLocked(allocation);
}

// Makes room for all live blocks, so that a free needs no memory.
void DeviceMemory::ReserveRetired(Owned* owned) {
    const size_t wanted = owned->retired.size() + owned->blocks;
    if (owned->retired.capacity() < wanted) {
        owned->retired.reserve(2 * wanted);
    }
}

void DeviceMemory::ReclaimLocked() {
    for (auto& [device, owned] : owned_) {
        ReclaimLocked(&owned);
    }
}

void DeviceMemory::ReclaimLocked(Owned* owned) {
    std::vector<Retired>& retired = owned->retired;
    for (; owned->front < retired.size(); ++owned->front) {
        Retired& oldest = retired[owned->front];
        while (!oldest.pending.empty() && Reached(oldest.pending.back())) {
            oldest.pending.pop_back();
        }
        if (!oldest.pending.empty()) {
            break;
        }
        ForgetRegistrationsInsideLocked(oldest.allocation);
        GiveBackLocked(oldest.allocation);
    }
    // At most as many entries move as are removed, so the cost of each block is constant.
    if (owned->front >= owned->Waiting()) {
        retired.erase(retired.begin(), retired.begin() + static_cast<ptrdiff_t>(owned->front));
        owned->front = 0;
    }
}

void DeviceMemory::GiveBackLocked(const Allocation& allocation) {
    if (allocation.origin == MemoryOrigin::kImported) {
        UnmapImported(allocation);
        return;
    }
    if (allocation.OfDevice()) {
        owned_[allocation.device].used -= allocation.bytes;
    }
    GiveBackBlock(reinterpret_cast<void*>(allocation.begin), {allocation.guard, allocation.pages});
}

// Returns the last allocation that begins before `end`, if it reaches beyond `begin`.
DeviceMemory::Live::iterator DeviceMemory::LastBefore(uintptr_t end, uintptr_t begin) {
    const auto next = live_.lower_bound(end);
    if (next == live_.begin() || std::prev(next)->second.end() <= begin) {
        return live_.end();
    }
    return std::prev(next);
}

// Removes the registrations in a range that the system has handed out anew. The program has freed
// the memory that was registered there without unregistering it.
void DeviceMemory::DropStaleLocked(uintptr_t begin, size_t bytes) {
    for (auto stale = LastBefore(begin + bytes, begin);
         stale != live_.end() && stale->second.origin == MemoryOrigin::kRegistered;
         stale = LastBefore(begin + bytes, begin)) {
        live_.erase(stale);
        epoch_.fetch_add(1, std::memory_order_release);
    }
}

const Allocation* DeviceMemory::FindLocked(uintptr_t address) const {
    const auto next = live_.upper_bound(address);
    if (next == live_.begin()) {
        return nullptr;
    }
    const Allocation& candidate = std::prev(next)->second;
    return address - candidate.begin < candidate.bytes ? &candidate : nullptr;
}

bool DeviceMemory::Find(const void* address, Allocation* allocation) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const Allocation* const found = FindLocked(wanted);
    if (found == nullptr) {
        return false;
    }
    *allocation = *found;
    allocation->mapped = allocation->mapped || MappedInside(inside_, *found, wanted);
    return true;
}

// The retired block is DeviceMemory's own. Its owner gives it back under this lock, and only when
// its places have been reached, which the running task prevents after the lock is released.
bool DeviceMemory::FindKept(const void* address, Allocation* allocation) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    for (const auto& [device, owned] : owned_) {
        for (size_t index = owned.front; index < owned.retired.size(); ++index) {
            const Retired& retired = owned.retired[index];
            if (wanted - retired.allocation.begin < retired.allocation.bytes &&
                InsideTaskBefore(retired.pending)) {
                *allocation = retired.allocation;
                allocation->mapped =
                    allocation->mapped || MappedInside(endedInside_, retired.allocation, wanted);
                return true;
            }
        }
    }
    return false;
}

uint64_t DeviceMemory::FreeBytes(const Device& device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    return device.settings().memoryBytes - owned_[&device].used;
}

void DeviceMemory::ReadUse(const Device& device, uint64_t* used, uint64_t* peak) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    const Owned& owned = owned_[&device];
    *used = owned.used;
    *peak = owned.peak;
}

void DeviceMemory::ReleaseAll(const Device* device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    for (auto entry = live_.begin(); entry != live_.end();) {
        const Allocation allocation = entry->second;
        if (allocation.origin == MemoryOrigin::kMapped ||
            (device != nullptr && allocation.device != device)) {
            ++entry;
            continue;
        }
        if (allocation.origin != MemoryOrigin::kRegistered) {
            try {
                RetireLocked(allocation);
            } catch (const std::bad_alloc&) {
                ++entry;  // no memory for the places of work on other devices: the block stays
                continue;
            }
            EndRegistrationsInsideLocked(allocation);
        } else {
            epoch_.fetch_add(1, std::memory_order_release);
        }
        entry = live_.erase(entry);
    }
    ReclaimLocked();
    if (device == nullptr) {
        ForgetDevicesLocked();
    }
}

// The runtime has ended. A device of its next life may have the address of one that is gone.
void DeviceMemory::ForgetDevicesLocked() {
    for (auto entry = owned_.begin(); entry != owned_.end();) {
        const Owned& owned = entry->second;
        const bool empty = owned.used == 0 && owned.blocks == 0 && owned.Waiting() == 0;
        entry = empty ? owned_.erase(entry) : std::next(entry);
    }
}

}  // namespace advstep
