// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory with handles, and mappings between the two.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/held_memory.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

struct ForkRecord;
struct ShareGrant;
struct ShareKey;

/// The owner of physical memory: a device, or the host.
struct MemoryPlace {
    const Device* device = nullptr;  // null: the host
    uint32_t type = 0;               // an aclrtMemLocationType
    uint32_t id = 0;                 // of the device, or as the program gave it

    MemoryPlace(const Device* owner);  // NOLINT: most memory is a device's
    MemoryPlace(uint32_t hostType, uint32_t hostId) : type(hostType), id(hostId) {}
};

/// Reserved ranges of addresses, physical memory with handles, and mappings of physical memory at
/// reserved addresses. DeviceMemory treats the mappings as device memory, and those of the host's
/// as pinned memory that every device can use.
///
/// An unmapped range leaves DeviceMemory at once, but stays mapped until the work that was queued
/// before has run, and no thread holds it. A released reservation stays until its last such range
/// is gone. Physical memory is freed when it has neither a handle nor a mapping. mutex_ guards
/// everything and is taken before DeviceMemory's.
class VirtualMemory {
 public:
    /// Sizes and addresses are multiples of this.
    static constexpr size_t kGranularity = kLargePage;
    /// The owner of memory of another process that is no device's.
    static constexpr int32_t kOfHost = -1;
    /// The aclrtMemAttr of memory of another process.
    static constexpr int32_t kUsualAttribute = 4;

    explicit VirtualMemory(DeviceMemory& memory,
                           HeldMemory::ListMemory listMemory = &ListPendingMemory)
        : memory_(memory), listMemory_(listMemory) {}
    VirtualMemory(const VirtualMemory&) = delete;
    VirtualMemory& operator=(const VirtualMemory&) = delete;

    /// Reserves a range of addresses, at `wanted` if that is free. 207001: the host has no such
    /// range.
    Status Reserve(const Device* device, size_t bytes, size_t alignment, void* wanted,
                   void** address);
    /// Ends a reservation. 107000: `address` is not the start of one, or memory is mapped in it.
    Status Release(void* address);
    /// Returns whether a part of the range is reserved.
    bool Reserved(const void* address, size_t bytes) const;

    /// Makes physical memory there. 207001: `bytes` is more than is free, or than the host can
    /// hold.
    Status Create(const MemoryPlace& place, size_t bytes, Handle* handle,
                  int32_t attribute = kUsualAttribute);
    /// Ends one use of the handle, and its life with the last one; `ended` says so. 107017: the
    /// handle is not alive.
    Status Destroy(Handle handle, bool* ended);
    /// Finds the handle of the memory that is mapped at any address, and adds a use of it. A handle
    /// whose life had ended lives again; `again` says so. 107000: no memory is mapped there.
    Status Retain(const void* address, Handle* handle, bool* again);
    /// Finds the place and the aclrtMemAttr of the memory. 107017: the handle is not alive.
    Status Describe(Handle handle, MemoryPlace* place, int32_t* attribute) const;

    /// Exports the memory. `open`: to every process. `brief`: the key is to fit 64 bits. 107017:
    /// the handle is not alive. 107000: it has been exported, or is another process's. 207001: the
    /// host has no memory, descriptor or thread for it.
    Status Export(Handle handle, bool open, bool brief, ShareKey* key);
    /// Makes a handle of memory of another process, as memory of the device unless it is the
    /// host's. *owner: the device that has it there, or kOfHost. 107000: this process has exported
    /// or imported it. Codes also as FetchShared.
    Status Import(const Device* device, const ShareKey& key, Handle* handle, int32_t* owner);

    /// The rights of a location to use a mapping. A mapping's device begins with both.
    struct Access {
        uint32_t type;  // an aclrtMemLocationType
        uint32_t id;
        uint32_t rights;  // an aclrtMemAccessFlags
    };
    /// Sets the rights of locations. 107000: the range is not that of one mapping. 507899: a
    /// location has other rights already; nothing has been set.
    Status SetAccess(const void* address, size_t bytes, const std::vector<Access>& access);
    /// Finds the rights; 0 for a location without any. 107000: no memory is mapped there.
    Status GetAccess(const void* address, uint32_t type, uint32_t id, uint32_t* rights) const;
    /// Finds the mapping around an address. False: there is none.
    bool FindMapping(const void* address, void** begin, size_t* bytes) const;

    /// Maps physical memory at reserved addresses. 107017: the handle is not alive. 107000: the
    /// range is not inside one reservation, meets another mapping, or exceeds the handle's memory.
    /// 207001: the host cannot map it. 207000: the calling thread runs a task, and earlier work
    /// still uses memory that was unmapped there.
    Status Map(void* address, size_t bytes, size_t offset, Handle handle);
    /// Ends a mapping. 107000: `address` is not the start of one.
    Status Unmap(void* address);

    /// Finds the unmapped range in which an address lies, if the calling thread runs a task that
    /// was queued before the aclrtUnmapMem. As DeviceMemory::FindRetired.
    bool FindRetired(const void* address, Allocation* allocation) const;

    /// Frees the unmapped ranges that no work uses any more. The call is cheap when there are none.
    void Reclaim();

    /// As DeviceMemory::Narrow and AddHeldUp, for unmapped ranges.
    bool Narrow() noexcept;
    void AddHeldUp(const Device* device, HeldUp* held) const;

    /// Ends all mappings, handles and reservations of the device, or all there are if `device` is
    /// null.
    void ReleaseAll(const Device* device);

 private:
    struct PhysicalMemory {
        PhysicalMemory();
        ~PhysicalMemory();

        Handle handle = 0;  // 0: destroyed, but perhaps still mapped
        Handle name = 0;    // the value of `handle` while it lives
        uint64_t uses = 0;  // of the handle
        size_t bytes = 0;
        MemoryPlace place{nullptr};
        int32_t attribute = kUsualAttribute;
        PageRange* pages = nullptr;  // null: of another process
        std::unique_ptr<ShareGrant> grant;
        uint64_t shareName = 0;  // NameOf the key of the export or the import; 0: neither
        size_t mappings = 0;

        int File() const;
        uint64_t Offset() const;

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
        uint64_t epoch;  // the epoch of DeviceMemory at the reservation
    };
    struct Mapping {
        uintptr_t begin;
        size_t bytes;
        uint64_t offset;  // of its first byte in the physical memory
        PhysicalMemory* physical;
        Reservation* reservation;
        bool retired;                 // unmapped by the program
        std::vector<Ticket> pending;  // of a retired one: the ends of work that may use it
        uint64_t number = 0;          // of a retired one: in the order of the ends
        bool narrowed = false;        // `pending` is of work that may use it
        Mapping* olderRetired = nullptr;
        Mapping* newerRetired = nullptr;
        std::vector<Access> access{};
        ForkRecord* forkRange = nullptr;
    };
    /// The unmapped ranges of a device's memory, oldest first. When the places of one have been
    /// reached, those of older ones have been reached too, unless Narrow has moved them back. So a
    /// call looks only at the oldest, except a Map at the same addresses, and Narrow.
    struct RetiredMappings {
        Mapping* first = nullptr;
        Mapping* last = nullptr;
    };
    using Mappings = std::map<uintptr_t, Mapping>;

    static Allocation AllocationOf(const Mapping& mapping);
    static void OpenPhysical(PhysicalMemory* physical, Handle handle, const MemoryPlace& place,
                             size_t bytes);
    Status TakePages(const MemoryPlace& place, size_t bytes, PageRange** pages);
    Status FindPhysical(Handle handle, PhysicalMemory** physical) const;
    Status CheckNotImported(uint64_t name);
    Status PublishLocked(PhysicalMemory* physical, bool open, bool brief, ShareKey* key);
    const Mapping* FindMapped(const void* address) const;
    Status MapLocked(uintptr_t begin, size_t bytes, size_t offset, Handle handle,
                     std::vector<Ticket>* earlier, HeldRange* held);
    static HeldRange RangeOf(const Mapping& mapping) {
        return {reinterpret_cast<const void*>(mapping.begin), mapping.bytes};
    }
    Status PlaceMapping(const Mapping& mapping);
    void RetireLocked(Mapping& mapping);
    void EnterRetired(Mapping* mapping);
    void LeaveRetired(Mapping* mapping);
    void ReclaimLocked();
    bool TakeDown(Mapping* mapping);
    bool TakeNarrowedLocked(HeldMemory* held);
    void GiveBackIfUnused(PhysicalMemory* physical);
    void GiveBackIfUnused(Reservation* reservation);

    DeviceMemory& memory_;
    const HeldMemory::ListMemory listMemory_;
    mutable std::mutex mutex_;
    HandleTable<PhysicalMemory> physical_{HandleKind::kPhysicalMemory};
    std::map<uintptr_t, Reservation> reservations_;  // by begin, as are the mappings
    Mappings mappings_;
    std::map<const Device*, RetiredMappings> retired_;  // null: the host; made with physical memory
    std::atomic<size_t> retiredCount_{0};
    uint64_t ends_ = 0;  // the number of the last retired mapping
};

}  // namespace advstep
