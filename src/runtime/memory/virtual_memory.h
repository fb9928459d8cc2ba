// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory with handles, and mappings between the two.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/page_pool.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// Reserved ranges of addresses, physical memory with handles, and mappings of physical memory at
/// reserved addresses. DeviceMemory treats the mappings as device memory.
///
/// An unmapped range leaves DeviceMemory at once, but stays mapped until the work that was queued
/// before has run. A released reservation stays until its last such range is gone. Physical memory
/// is freed when it has neither a handle nor a mapping. mutex_ guards everything and is taken
/// before DeviceMemory's.
class VirtualMemory {
 public:
    /// Sizes and addresses are multiples of this.
    static constexpr size_t kGranularity = kLargePage;

    VirtualMemory(DeviceMemory& memory, DeviceMemory::FindPending pendingPlaces)
        : memory_(memory), pendingPlaces_(pendingPlaces) {}
    VirtualMemory(const VirtualMemory&) = delete;
    VirtualMemory& operator=(const VirtualMemory&) = delete;

    /// Reserves a range of addresses, at `wanted` if that is free. 207001: the host has no such
    /// range.
    Status Reserve(const Device* device, size_t bytes, size_t alignment, void* wanted,
                   void** address);
    /// Ends a reservation. 107000: `address` is not the start of one, or memory is mapped in it.
    Status Release(void* address);

    /// Makes physical memory of the device. 207001: `bytes` is more than is free.
    Status Create(const Device* device, size_t bytes, Handle* handle);
    /// Ends the handle's life. 107017: the handle is not alive.
    Status Destroy(Handle handle);

    /// Maps physical memory at reserved addresses. 107017: the handle is not alive. 107000: the
    /// range is not inside one reservation, meets another mapping, or exceeds the handle's memory.
    /// 207001: the host cannot map it. 207000: the calling thread runs a task, and earlier work
    /// still uses memory that was unmapped there.
    Status Map(void* address, size_t bytes, size_t offset, Handle handle);
    /// Ends a mapping. 107000: `address` is not the start of one.
    Status Unmap(void* address);

    /// Returns whether a part of the range is reserved.
    bool Reserved(const void* address, size_t bytes) const;

    /// Frees the unmapped ranges that no work uses any more. The call is cheap when there are none.
    void Reclaim();

    /// Ends all mappings, handles and reservations of the device, or all there are if `device` is
    /// null.
    void ReleaseAll(const Device* device);

 private:
    struct PhysicalMemory {
        Handle handle = 0;  // 0: destroyed, but perhaps still mapped
        size_t bytes = 0;
        const Device* device = nullptr;
        uint64_t offset = 0;  // in the pool
        size_t mappings = 0;

        // These belong to the HandleTable.
        uint32_t tableIndex = 0;
        uint32_t generation = 0;
    };
    struct Reservation {
        uintptr_t begin;
        size_t bytes;
        const Device* device;
        size_t mappings;
        bool released;
    };
    struct Mapping {
        uintptr_t begin;
        size_t bytes;
        PhysicalMemory* physical;
        Reservation* reservation;
        bool retired;                 // unmapped,
        std::vector<Ticket> pending;  // but work queued before that is under way
        Mapping* olderRetired = nullptr;
        Mapping* newerRetired = nullptr;
    };
    /// The unmapped ranges of a device's memory, oldest first. What is reached for one is reached
    /// for those before it, so only the oldest is asked, except by a Map at the same addresses.
    struct RetiredMappings {
        Mapping* first = nullptr;
        Mapping* last = nullptr;
    };
    using Mappings = std::map<uintptr_t, Mapping>;

    Status FindPhysical(Handle handle, PhysicalMemory** physical) const;
    Status MapLocked(uintptr_t begin, size_t bytes, size_t offset, Handle handle,
                     std::vector<Ticket>* earlier);
    Status PlaceMapping(const Mapping& mapping, uint64_t offset);
    void EnterRetired(Mapping* mapping);
    void LeaveRetired(Mapping* mapping);
    void RetireLocked(Mapping& mapping);
    void ReclaimLocked();
    bool TakeDown(Mapping* mapping);
    void GiveBackIfUnused(PhysicalMemory* physical);
    void GiveBackIfUnused(Reservation* reservation);

    DeviceMemory& memory_;
    const DeviceMemory::FindPending pendingPlaces_;
    mutable std::mutex mutex_;
    PagePool pool_;
    HandleTable<PhysicalMemory> physical_{HandleKind::kPhysicalMemory};
    std::map<uintptr_t, Reservation> reservations_;  // by begin, as are the mappings
    Mappings mappings_;
    std::map<const Device*, RetiredMappings> retired_;  // entries are made with physical memory
    std::atomic<size_t> retiredCount_{0};
};

}  // namespace advstep
