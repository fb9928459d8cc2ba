// SPDX-License-Identifier: Apache-2.0
// The map of live allocations of all devices and of pinned host memory.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/freed_blocks.h"
#include "src/runtime/memory/held_memory.h"
#include "src/runtime/memory/memory_holds.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;
struct GuardRecord;
struct ImportedBlock;
struct PageRange;
struct ShareGrant;
struct ShareKey;

enum class MemoryKind { kDevice, kPinnedHost };

/// The owner of memory, and so the way in which it is freed.
enum class MemoryOrigin {
    kAllocated,   // of DeviceMemory::Allocate
    kRegistered,  // the program's own, pinned by aclrtHostRegister
    kMapped,      // of VirtualMemory: neighbours in one reservation are one allocation
    kImported,    // of another process, by aclrtIpcMemImportByKey
};

/// A live allocation.
struct Allocation {
    uintptr_t begin = 0;
    size_t bytes = 0;
    MemoryKind kind = MemoryKind::kDevice;
    const Device* device = nullptr;  // the device that has the memory; null: pinned host memory
    MemoryOrigin origin = MemoryOrigin::kAllocated;
    uintptr_t reservation = 0;     // of mapped memory: where the reserved range begins
    uint64_t epoch = 0;            // the epoch at the allocation, or at the reservation
    GuardRecord* guard = nullptr;  // of a guarded block
    bool mapped = false;           // host memory that has an address on every device
    bool pageable = false;         // registered memory that was not pinned
    PageRange* pages = nullptr;    // of a block that other processes can map
    uint64_t shareName = 0;        // NameOf the key of the export or the import; 0: neither
    ImportedBlock* imported = nullptr;

    uintptr_t end() const { return begin + bytes; }
    size_t BytesFrom(const void* address) const {
        return end() - reinterpret_cast<uintptr_t>(address);
    }
    bool OfDevice() const { return kind == MemoryKind::kDevice; }
    /// Mapped host memory has the host's address on every device.
    bool UsableOnDevice() const { return OfDevice() || mapped; }
};

/// The effects of a registration of host memory.
struct RegistrationEffect {
    bool mapped = true;  // kernels and the device sides of copies may use it
    bool pinned = true;  // asynchronous copies of it return before they have run
    /// Pinned memory is refused with 107000. If this is false, a range inside one block of pinned
    /// host memory may be registered.
    bool onlyPageable = false;
};

/// All device and pinned host memory of the process, by address.
///
/// A freed block leaves the map at once. Its bytes are given back when the work that was queued
/// before and may use it has run: until then the block waits in its device's queue, with the places
/// in streams where that work ends. A free takes the ends of all work, which cost little. When they
/// have been reached, those of older blocks have been reached too, so a call looks only at the
/// front of each queue. Narrow finds out which work may use which block, when memory lacks or much
/// of it waits. mutex_ guards everything; look-ups share it. Streams' locks are taken under it, to
/// look for the ends of work; Narrow asks the streams without it.
///
/// A thread that looks up memory and uses it beside another one that frees it is safe in two ways.
/// Work that it queues has a MemoryCheck: the free finds the work among what is queued, or the work
/// is checked again. What it touches itself is in a MemoryHold: a freed block is not given back
/// while a hold meets it.
class DeviceMemory {
 public:
    using FindPending = std::vector<Ticket> (*)(const Device* device);

    /// `pendingPlaces` is ::advstep::PendingPlaces, except in tests.
    explicit DeviceMemory(FindPending pendingPlaces,
                          HeldMemory::ListMemory listMemory = &ListPendingMemory)
        : pendingPlaces_(pendingPlaces), listMemory_(listMemory) {}

    /// 207001: `bytes` is more than is free. `hold`, if there is one, holds the block from before
    /// anybody else can free it.
    Status Allocate(MemoryKind kind, const Device* device, size_t bytes, void** address,
                    std::optional<MemoryHold>* hold = nullptr);

    /// 107000: `address` is not the start of a live allocation of that kind.
    Status Free(MemoryKind kind, void* address);

    /// Finds the live allocation that Free would free. Codes as Free.
    Status FindFreeable(MemoryKind kind, const void* address, Allocation* allocation) const;

    /// Registers host memory: the program's own, or a range inside one block of pinned host memory.
    /// The free of that block ends the registration. 507910: some of it is registered already, or
    /// is pinned and not inside one block. 107000: some of it is device memory, or is pinned
    /// although `effect` wants pageable memory.
    Status Register(void* address, size_t bytes, const RegistrationEffect& effect = {});

    /// Finds a registered range, for the question what work uses it. 507911: `address` is not the
    /// start of one.
    Status FindRegistered(const void* address, HeldMemory::Freed* range) const;

    /// Ends the pinning. `pending` are the places to wait for before the program may free the
    /// memory, and `range` is what no thread may hold. Codes as FindRegistered.
    Status Unregister(void* address, std::vector<Ticket>* pending, HeldRange* range);

    /// Returns the epoch at which a range of addresses was reserved. Everything that was found
    /// there before has left by then.
    uint64_t EnterReserved(uintptr_t begin, size_t bytes);
    /// Enters a mapped range. It joins its neighbours of the same reservation and device.
    void EnterMapped(const Allocation& range);
    /// Removes a range that has been entered from its mapped allocation, at once. Returns the
    /// places where the work ends that may use it. An exception changes nothing.
    std::vector<Ticket> LeaveMapped(uintptr_t begin, size_t bytes);

    /// Exports a block, or finds its key if it is exported already. `open`: to every process.
    /// 107000: `address` is not the start of a block that can be shared, or it has less than
    /// `bytes` bytes. 207001: the host has no memory, descriptor or thread for it.
    Status Export(const void* address, size_t bytes, bool open, ShareKey* key);
    /// Maps a block of another process as memory of the device. 207001: the host cannot map it.
    Status Import(const Device* device, ShareGrant&& grant, void** address);
    /// Ends the oldest import by the key of that name, when the work queued before has run. False:
    /// there is none.
    bool CloseImport(uint64_t name);
    /// Ends the export by the key of that name. Its block lives on.
    void CloseExport(uint64_t name);

    /// Counts bytes of the device's memory as used by memory that does not come from Allocate.
    /// Credit counts them as free again. 207001: `bytes` is more than is free.
    Status Charge(const Device* device, size_t bytes);
    void Credit(const Device* device, size_t bytes);
    uint64_t FreeBytes(const Device& device);

    /// Gives back what waits for work that does not use it. True: it was something. The calling
    /// thread holds no lock. Without memory for the question nothing is given back.
    bool Narrow() noexcept;
    /// Returns whether so much waits that Narrow is worth its price, although nothing lacks.
    bool NarrowIsDue() const {
        return heldSinceLook_.load(std::memory_order_relaxed) >= kMostUnlooked;
    }
    /// Adds what has been freed and still waits.
    void AddHeldUp(const Device* device, HeldUp* held) const;

    /// Reads the bytes of the device's memory that are used, and the most that there have been.
    void ReadUse(const Device& device, uint64_t* used, uint64_t* peak);

    /// Finds the allocation in which an address lies. False: there is none.
    bool Find(const void* address, Allocation* allocation) const;

    /// Finds the freed block or closed import in which an address lies, if the calling thread runs
    /// a task that was queued before it was freed. It is kept until that task has ended, whatever
    /// other threads do. False: there is none.
    bool FindRetired(const void* address, Allocation* allocation) const;

    /// Returns whether an address in no allocation lies in one of the last blocks of whole pages
    /// that were freed. The host uses the memory of smaller blocks for something else at once.
    bool WasFreed(const void* address) const;

    /// Calls visit(const Allocation&) with the live allocation in which an address lies, if there
    /// is one. Nothing frees it meanwhile. `visit` takes no lock.
    template <typename Visit>
    void WithBlock(const void* address, const Visit& visit) const {
        const std::shared_lock<std::shared_mutex> lock(mutex_);
        const Allocation* const found = FindLocked(reinterpret_cast<uintptr_t>(address));
        if (found != nullptr) {
            visit(*found);
        }
    }

    /// Returns a number that grows whenever an address may have become invalid. A check still holds
    /// while the number is the same.
    uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
    /// The number itself, for a MemoryCheck.
    const std::atomic<uint64_t>& epochNow() const { return epoch_; }

    /// The holds of threads that touch memory themselves.
    MemoryHolds& holds() { return holds_; }

    /// Frees all memory of the device, or all memory there is if `device` is null. Mapped memory is
    /// an exception: VirtualMemory unmaps it.
    void ReleaseAll(const Device* device);

 private:
    // The host's memory is the reason: a block that waits keeps its pages, so the next one needs
    // new ones.
    static constexpr uint64_t kMostUnlooked = uint64_t{64} << 20;

    struct Inside {
        uintptr_t begin;
        size_t bytes;
        bool mapped;
    };
    using Registrations = std::map<uintptr_t, Inside>;  // by begin
    struct Retired {
        Allocation allocation;
        std::vector<Ticket> pending;  // the last is removed when it is reached
        uint64_t number;              // in the order of the frees
        bool narrowed = false;        // `pending` is of work that may use it
    };
    /// The memory of a device, or pinned host memory.
    struct Owned {
        uint64_t used = 0;             // bytes
        uint64_t peak = 0;             // the most that `used` has been
        size_t blocks = 0;             // live ones
        std::vector<Retired> retired;  // from `front` on, oldest first
        size_t front = 0;

        size_t Waiting() const { return retired.size() - front; }
    };
    /// The bytes that are free, of a device's own and of what the host gives to all devices.
    struct FreeOf {
        uint64_t device = 0;
        uint64_t host = std::numeric_limits<uint64_t>::max();
    };
    using Live = std::map<uintptr_t, Allocation>;
    struct FreedBlock {
        uintptr_t begin;
        size_t bytes;
    };
    static constexpr size_t kFreedBlocks = 256;

    Status FindFreeableLocked(MemoryKind kind, const void* address, Live::const_iterator* it) const;
    Status RegisterInsideLocked(const Allocation& block, uintptr_t begin, size_t bytes,
                                const RegistrationEffect& effect);
    Status FindRegisteredLocked(const void* address, HeldMemory::Freed* range) const;
    static bool MappedInside(const Registrations& inside, const Allocation& block,
                             uintptr_t address);
    void EndRegistrationsInsideLocked(const Allocation& block);
    void ForgetRegistrationsInsideLocked(const Allocation& block);
    Status PublishLocked(Allocation* block, bool open);
    void EndSharingLocked(const Allocation& allocation) noexcept;
    Status ChargeLocked(const Device* device, size_t bytes);
    FreeOf FreeLocked(const Device& device);
    bool TakeNarrowedLocked(HeldMemory* held);
    const Allocation* FindLocked(uintptr_t address) const;
    Live::iterator LastBefore(uintptr_t end, uintptr_t begin);
    void DropStaleRegistrationsLocked(uintptr_t begin, size_t bytes);
    Live::node_type TakeSpareLocked();
    void RetireLocked(const Allocation& allocation);
    static void ReserveRetired(Owned* owned);
    void InvalidateChecksLocked() { epoch_.fetch_add(1); }
    bool IsUnusedLocked(Retired* retired);
    void ReclaimLocked();
    void ReclaimLocked(Owned* owned);
    void UncountLocked(const Allocation& allocation);
    void GiveBackLocked(const Allocation& allocation);
    void ForgetDevicesLocked();

    const FindPending pendingPlaces_;
    const HeldMemory::ListMemory listMemory_;
    mutable std::shared_mutex mutex_;
    Live live_;  // by begin
    // As many nodes as there are more mappings than mapped allocations, so that neither a part nor
    // the middle of one needs memory to leave.
    std::vector<Live::node_type> spare_;
    Registrations inside_;                            // inside blocks of pinned host memory
    Registrations endedInside_;                       // those of retired blocks, for FindRetired
    std::unordered_map<const Device*, Owned> owned_;  // by device; null: pinned host memory
    FreedBlocks kept_;                                // under the sanitizer
    FreedBlock freed_[kFreedBlocks] = {};             // the last ones of whole pages, in no order
    size_t freedCount_ = 0;                           // ever
    std::atomic<uint64_t> epoch_{1};
    MemoryHolds holds_;
    uint64_t imports_ = 0;                    // the number of the last import
    uint64_t frees_ = 0;                      // the number of the last free
    std::atomic<uint64_t> heldSinceLook_{0};  // bytes that have begun to wait since the last Narrow
    // Where live blocks begin: imported ones by the key's name and number, exported ones by name.
    std::map<std::pair<uint64_t, uint64_t>, uintptr_t> importedAt_;
    std::unordered_map<uint64_t, uintptr_t> exportedAt_;
};

}  // namespace advstep
