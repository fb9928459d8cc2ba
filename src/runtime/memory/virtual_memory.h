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

/// Addresses and memory apart: reserved ranges, physical memory behind handles, and mappings of
/// the one in the other, which DeviceMemory knows as device memory.
///
/// An unmapped range leaves DeviceMemory at once, but stays mapped until the work that was queued
/// before has run; so does a released reservation. Physical memory goes back when it has neither a
/// handle nor a mapping. mutex_ guards everything and is taken before DeviceMemory's.
class VirtualMemory {
 public:
    /// Sizes and addresses are multiples of this.
    static constexpr size_t kGranularity = kLargePage;

    VirtualMemory(DeviceMemory& memory, DeviceMemory::FindPending pendingPlaces)
        : memory_(memory), pendingPlaces_(pendingPlaces) {}
    VirtualMemory(const VirtualMemory&) = delete;
    VirtualMemory& operator=(const VirtualMemory&) = delete;

    /// A range of addresses at `wanted` if that is free. Codes: 207001 there is none so long.
    Status Reserve(const Device* device, size_t bytes, size_t alignment, void* wanted,
                   void** address);
    /// 107000: no start of a reservation, or something is mapped in it.
    Status Release(void* address);

    /// Physical memory of the device. 207001: more than is free.
    Status Create(const Device* device, size_t bytes, Handle* handle);
    /// The handle's life is over. 107017: no live handle.
    Status Destroy(Handle handle);

    /// Codes: 107017; 107000 outside a reservation, over another mapping, or more than the handle
    /// has; 207001; 207000 inside a task, if work still uses what was unmapped there.
    Status Map(void* address, size_t bytes, size_t offset, Handle handle);
    /// 107000: no start of a mapping.
    Status Unmap(void* address);

    /// A part of the range is reserved.
    bool Reserved(const void* address, size_t bytes) const;

    /// Gives back what no work uses any more; cheap when nothing waits for that.
    void Reclaim();

    /// Takes down everything of the device, or with null everything there is.
    void ReleaseAll(const Device* device);

 private:
    struct PhysicalMemory {
        Handle handle = 0;  // 0: destroyed, but perhaps mapped
        size_t bytes = 0;
        const Device* device = nullptr;
        uint64_t offset = 0;  // in the pool
        size_t mappings = 0;

        // Of the HandleTable.
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
        Mapping* nextRetired = nullptr;
    };
    /// The unmapped ranges of a device's memory, oldest first. What is reached for one is reached
    /// for those before it.
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
