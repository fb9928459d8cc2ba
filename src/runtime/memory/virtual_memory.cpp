// SPDX-License-Identifier: Apache-2.0
// Implements reservations, physical memory and mappings.

#include "src/runtime/memory/virtual_memory.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "src/base/log.h"
#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/memory_block.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/page_pool.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

Status NotMapped(const void* address) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "virPtr is {}, where no memory is mapped; expected an address of aclrtMapMem",
                 address);
}

}  // namespace

MemoryPlace::MemoryPlace(const Device* owner)
    : device(owner),
      type(owner != nullptr ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST),
      id(owner != nullptr ? static_cast<uint32_t>(owner->id()) : 0) {}

// Reservations.

Status VirtualMemory::Reserve(const Device* device, size_t bytes, size_t alignment, void* wanted,
                              void** address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();  // the range at `wanted` may have been released
    void* const got = AllocationFails(AllocationKind::kMemory)
                          ? nullptr
                          : ReserveAddresses(wanted, bytes, alignment);
    if (got == nullptr) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} with alignment {}; expected a range that the host has free", bytes,
                     alignment);
    }
    if (wanted != nullptr && got != wanted) {
        ReleaseAddresses(got, bytes);
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "expectPtr is {}, and not all of the {} bytes there are free; expected the "
                     "start of a free range, or NULL",
                     wanted, bytes);
    }
    const auto begin = reinterpret_cast<uintptr_t>(got);
    try {
        const uint64_t epoch = memory_.EnterReserved(begin, bytes);
        reservations_.emplace(begin, Reservation{begin, bytes, device, 0, false, epoch});
    } catch (...) {
        ReleaseAddresses(got, bytes);
        throw;
    }
    *address = got;
    return {};
}

Status VirtualMemory::Release(void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    const auto found = reservations_.find(reinterpret_cast<uintptr_t>(address));
    if (found == reservations_.end() || found->second.released) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "virPtr is {}, not the start of a reserved range; expected an address of "
                     "aclrtReserveMemAddress",
                     address);
    }
    Reservation& reservation = found->second;
    for (auto entry = mappings_.lower_bound(reservation.begin);
         entry != mappings_.end() && entry->second.reservation == &reservation; ++entry) {
        if (!entry->second.retired) {
            return Error(
                ACL_ERROR_RT_PARAM_INVALID,
                "virPtr is {}, a range with memory mapped at {:#x}; expected aclrtUnmapMem "
                "before",
                address, entry->first);
        }
    }
    reservation.released = true;
    GiveBackIfUnused(&reservation);
    return {};
}

bool VirtualMemory::Reserved(const void* address, size_t bytes) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return FindOverlap(reservations_, reinterpret_cast<uintptr_t>(address), bytes) !=
           reservations_.end();
}

// Physical memory.

VirtualMemory::PhysicalMemory::PhysicalMemory() = default;
VirtualMemory::PhysicalMemory::~PhysicalMemory() = default;

int VirtualMemory::PhysicalMemory::File() const {
    return pages != nullptr ? PagePool::FileOf(*pages) : grant->file.Get();
}

uint64_t VirtualMemory::PhysicalMemory::Offset() const {
    return pages != nullptr ? PagePool::OffsetOf(*pages) : 0;
}

Status VirtualMemory::Create(const MemoryPlace& place, size_t bytes, Handle* handle,
                             int32_t attribute) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    retired_.try_emplace(place.device);
    const auto entry = physical_.Acquire();
    PageRange* pages = nullptr;
    Status taken = TakePages(place, bytes, &pages);
    if (!taken.ok()) {
        physical_.Release(entry.object);
        return taken;
    }
    OpenPhysical(entry.object, entry.handle, place, bytes);
    entry.object->pages = pages;
    entry.object->attribute = attribute;
    *handle = entry.handle;
    return {};
}

// Takes what the memory of a device costs there, and the pages.
Status VirtualMemory::TakePages(const MemoryPlace& place, size_t bytes, PageRange** pages) {
    ADVSTEP_RETURN_IF_ERROR(CheckHostHolds(bytes));
    if (place.device != nullptr) {
        ADVSTEP_RETURN_IF_ERROR(memory_.Charge(place.device, bytes));
    }
    Status taken;
    try {
        taken = AllocationFails(AllocationKind::kMemory)
                    ? Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                            "size is {} bytes; expected no more than the host can give", bytes)
                    : TheUnmappedPages().Take(bytes, kGranularity, pages);
    } catch (const std::bad_alloc&) {
        taken = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!taken.ok() && place.device != nullptr) {
        memory_.Credit(place.device, bytes);
    }
    return taken;
}

void VirtualMemory::OpenPhysical(PhysicalMemory* physical, Handle handle, const MemoryPlace& place,
                                 size_t bytes) {
    physical->handle = handle;
    physical->name = handle;
    physical->uses = 1;
    physical->bytes = bytes;
    physical->place = place;
    physical->attribute = kUsualAttribute;
    physical->pages = nullptr;
    physical->shareName = 0;
    physical->mappings = 0;
}

Status VirtualMemory::FindPhysical(Handle handle, PhysicalMemory** physical) const {
    PhysicalMemory* const found = physical_.Find(handle);
    if (found == nullptr || found->handle != handle) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "handle {} is no physical memory or has been freed; expected a live handle of "
                     "aclrtMallocPhysical",
                     ToPointer(handle));
    }
    *physical = found;
    return {};
}

Status VirtualMemory::Destroy(Handle handle, bool* ended) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    *ended = --physical->uses == 0;
    if (*ended) {
        physical->handle = 0;
        GiveBackIfUnused(physical);
    }
    return {};
}

Status VirtualMemory::Retain(const void* address, Handle* handle, bool* again) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return NotMapped(address);
    }
    PhysicalMemory& physical = *mapping->physical;
    *again = physical.handle == 0;
    physical.handle = physical.name;
    ++physical.uses;
    *handle = physical.name;
    return {};
}

Status VirtualMemory::Describe(Handle handle, MemoryPlace* place, int32_t* attribute) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    *place = physical->place;
    *attribute = physical->attribute;
    return {};
}

Status VirtualMemory::Export(Handle handle, bool open, bool brief, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    PhysicalMemory* physical = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindPhysical(handle, &physical));
    if (physical->shareName != 0) {
        return Error(
            ACL_ERROR_RT_PARAM_INVALID, "handle {} {}; expected {}", ToPointer(handle),
            physical->pages != nullptr ? "has been exported already" : "is of another process",
            physical->pages != nullptr ? "one export of each handle"
                                       : "a handle of aclrtMallocPhysical");
    }
    return PublishLocked(physical, open, brief, key);
}

// The lock is held while the pages are moved into a file of their own, so the mappings stay.
Status VirtualMemory::PublishLocked(PhysicalMemory* physical, bool open, bool brief,
                                    ShareKey* key) {
    std::vector<PagePlace> places;
    for (auto& [begin, mapping] : mappings_) {
        if (mapping.physical == physical) {
            places.push_back({reinterpret_cast<void*>(begin), mapping.offset, mapping.bytes,
                              &mapping.forkRange});
        }
    }
    PageRange* const pages = physical->pages;
    ADVSTEP_RETURN_IF_ERROR(
        TheUnmappedPages().MakeAlone(pages, physical->bytes, std::move(places)));
    ShareOffer offer;
    offer.kind = ShareKind::kPhysical;
    offer.file = PagePool::FileOf(*pages);
    offer.bytes = pages->bytes;
    offer.length = physical->bytes;
    offer.device = physical->place.device != nullptr ? physical->place.device->id() : kOfHost;
    offer.open = open;
    ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, brief, key));
    physical->shareName = NameOf(*key);
    return {};
}

// It holds no lock while it asks the other process.
Status VirtualMemory::Import(const Device* device, const ShareKey& key, Handle* handle,
                             int32_t* owner) {
    if (TheShareServer().HasExport(key, ShareKind::kPhysical)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "shareableHandle is of the export {:#x}, of this process; expected another "
                     "process's",
                     NameOf(key));
    }
    auto grant = std::make_unique<ShareGrant>();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckNotImported(NameOf(key)));
    }
    ADVSTEP_RETURN_IF_ERROR(FetchShared(ShareKind::kPhysical, key, "shareableHandle", grant.get()));
    if (grant->inner != 0 || grant->length != grant->bytes || grant->length % kGranularity != 0) {
        return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                     "shareableHandle is of {} bytes at offset {}; expected a multiple of {} at 0, "
                     "from a process with the same version of this library",
                     grant->length, grant->inner, kGranularity);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    ADVSTEP_RETURN_IF_ERROR(
        CheckNotImported(NameOf(key)));  // another thread may have done so meanwhile
    const MemoryPlace place =
        grant->device == kOfHost ? MemoryPlace(ACL_MEM_LOCATION_TYPE_HOST, 0) : MemoryPlace(device);
    retired_.try_emplace(place.device);
    const auto entry = physical_.Acquire();
    OpenPhysical(entry.object, entry.handle, place, grant->length);
    *owner = grant->device;
    entry.object->shareName = NameOf(key);
    entry.object->grant = std::move(grant);
    *handle = entry.handle;
    return {};
}

Status VirtualMemory::CheckNotImported(uint64_t name) {
    bool known = false;
    physical_.ForEach([&](const PhysicalMemory& physical) {
        known = known || (physical.grant != nullptr && physical.shareName == name);
    });
    return known ? Error(ACL_ERROR_RT_PARAM_INVALID,
                         "shareableHandle is of the export {:#x}, which this process has imported; "
                         "expected one import in each process",
                         name)
                 : Status();
}

// Rights to use mappings.

Status VirtualMemory::SetAccess(const void* address, size_t bytes,
                                const std::vector<Access>& access) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = mappings_.find(reinterpret_cast<uintptr_t>(address));
    if (found == mappings_.end() || found->second.retired || found->second.bytes != bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "virPtr is {} with size {}, not a whole mapping; expected those of one "
                     "aclrtMapMem",
                     address, bytes);
    }
    Mapping& mapping = found->second;
    std::vector<Access> merged = mapping.access;
    if (merged.empty()) {
        const MemoryPlace& place = mapping.physical->place;
        merged.push_back({place.type, place.id, ACL_RT_MEM_ACCESS_FLAGS_READWRITE});
    }
    for (const Access& wanted : access) {
        const auto known = std::find_if(merged.begin(), merged.end(), [&](const Access& other) {
            return other.type == wanted.type && other.id == wanted.id;
        });
        if (known == merged.end()) {
            merged.push_back(wanted);
        } else if (known->rights != wanted.rights) {
            return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                         "desc gives location {} of type {} the rights {}; expected the {} that it "
                         "has at virPtr {}",
                         wanted.id, wanted.type, wanted.rights, known->rights, address);
        }
    }
    mapping.access = std::move(merged);
    return {};
}

Status VirtualMemory::GetAccess(const void* address, uint32_t type, uint32_t id,
                                uint32_t* rights) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return NotMapped(address);
    }
    const MemoryPlace& place = mapping->physical->place;
    const bool own = type == place.type && id == place.id;
    *rights = own ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
    for (const Access& known : mapping->access) {
        if (known.type == type && known.id == id) {
            *rights = known.rights;
        }
    }
    return {};
}

bool VirtualMemory::FindMapping(const void* address, void** begin, size_t* bytes) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Mapping* const mapping = FindMapped(address);
    if (mapping == nullptr) {
        return false;
    }
    *begin = reinterpret_cast<void*>(mapping->begin);
    *bytes = mapping->bytes;
    return true;
}

// Returns the mapping around an address. Null: no memory is mapped there.
const VirtualMemory::Mapping* VirtualMemory::FindMapped(const void* address) const {
    const auto found = FindOverlap(mappings_, reinterpret_cast<uintptr_t>(address), 1);
    return found == mappings_.end() || found->second.retired ? nullptr : &found->second;
}

// Mappings, and their ends when earlier work has run.

Status VirtualMemory::Map(void* address, size_t bytes, size_t offset, Handle handle) {
    for (bool narrowed = false;; narrowed = true) {
        std::vector<Ticket> earlier;
        HeldRange held;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ReclaimLocked();
            ADVSTEP_RETURN_IF_ERROR(MapLocked(reinterpret_cast<uintptr_t>(address), bytes, offset,
                                              handle, &earlier, &held));
        }
        if (held.begin != held.end) {
            memory_.holds().WaitFor(held);
            continue;
        }
        if (earlier.empty()) {
            return {};
        }
        if (!narrowed && Narrow()) {
            continue;
        }
        // Work that was queued before an aclrtUnmapMem still needs the old memory at this address.
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        for (const Ticket& ticket : earlier) {
            ADVSTEP_RETURN_IF_ERROR(WaitFor(ticket, ToTheEndUnseen()));
        }
    }
}

// Maps the range, or stores in `earlier` the places, or in `held` the range of a thread, that have
// to be waited for first.
Status VirtualMemory::MapLocked(uintptr_t begin, size_t bytes, size_t offset, Handle handle,
                                std::vector<Ticket>* earlier, HeldRange* held) {
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
        if (other->second.pending.empty() && memory_.holds().Meets(RangeOf(other->second))) {
            *held = RangeOf(other->second);
            return {};
        }
        *earlier = other->second.pending;
        return {};
    }
    return PlaceMapping({begin, bytes, offset, physical, &around->second, false, {}});
}

// The host's memory is like registered memory: every device can use it.
Allocation VirtualMemory::AllocationOf(const Mapping& mapping) {
    const Device* const device = mapping.physical->place.device;
    Allocation allocation{mapping.begin,
                          mapping.bytes,
                          device != nullptr ? MemoryKind::kDevice : MemoryKind::kPinnedHost,
                          device,
                          MemoryOrigin::kMapped,
                          mapping.reservation->begin,
                          mapping.reservation->epoch};
    allocation.mapped = device == nullptr;
    return allocation;
}

Status VirtualMemory::PlaceMapping(const Mapping& mapping) {
    const int file = mapping.physical->File();
    const uint64_t offset = mapping.physical->Offset() + mapping.offset;
    auto* const address = reinterpret_cast<void*>(mapping.begin);
    const auto entry = mappings_.emplace(mapping.begin, mapping).first;
    Status mapped;
    try {
        entry->second.forkRange = EnterUnusedForkRange(address, mapping.bytes, file, offset);
        mapped = PagePool::MapAt(address, mapping.bytes, file, offset);
    } catch (...) {
        ForgetForkRecord(entry->second.forkRange);
        mappings_.erase(entry);
        throw;
    }
    if (!mapped.ok()) {
        ForgetForkRecord(entry->second.forkRange);
        mappings_.erase(entry);
        return mapped;
    }
    PutInPlace(entry->second.forkRange, nullptr);
    ++mapping.physical->mappings;
    ++mapping.reservation->mappings;
    try {
        memory_.EnterMapped(AllocationOf(mapping));
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

// The retired mapping is VirtualMemory's own and is taken down under this lock, and only when its
// places have been reached, which the running task prevents after the lock is released. A mapping
// is retired under the lock after it has left DeviceMemory, so retiredCount_ may be 0 until then.
bool VirtualMemory::FindRetired(const void* address, Allocation* allocation) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = FindOverlap(mappings_, reinterpret_cast<uintptr_t>(address), 1);
    if (found == mappings_.end() || !found->second.retired ||
        !InsideTaskBefore(found->second.pending)) {
        return false;
    }
    *allocation = AllocationOf(found->second);
    return true;
}

// As for freed blocks (DeviceMemory::RetireLocked), work whose check found the range is among the
// pending work, or is checked again.
void VirtualMemory::RetireLocked(Mapping& mapping) {
    mapping.pending = memory_.LeaveMapped(mapping.begin, mapping.bytes);
    mapping.retired = true;
    mapping.number = ++ends_;
    EnterRetired(&mapping);
}

void VirtualMemory::EnterRetired(Mapping* mapping) {
    RetiredMappings& retired = retired_.at(mapping->physical->place.device);
    mapping->olderRetired = retired.last;
    (retired.last == nullptr ? retired.first : retired.last->newerRetired) = mapping;
    retired.last = mapping;
    retiredCount_.fetch_add(1, std::memory_order_relaxed);
}

void VirtualMemory::LeaveRetired(Mapping* mapping) {
    RetiredMappings& retired = retired_.at(mapping->physical->place.device);
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

// As DeviceMemory::Narrow. A task that has an address in a reservation may use any of its mappings,
// because neighbours are one allocation.
bool VirtualMemory::Narrow() noexcept {
    if (retiredCount_.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    try {
        HeldMemory held;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const auto& [device, retired] : retired_) {
                for (const Mapping* mapping = retired.first; mapping != nullptr;
                     mapping = mapping->newerRetired) {
                    const Reservation& around = *mapping->reservation;
                    if (!mapping->narrowed) {
                        held.Add({mapping->number, mapping->begin, mapping->begin + mapping->bytes,
                                  around.begin, around.begin + around.bytes, mapping->pending});
                    }
                }
            }
        }
        held.Narrow(listMemory_);
        const std::lock_guard<std::mutex> lock(mutex_);
        return TakeNarrowedLocked(&held);
    } catch (const std::bad_alloc&) {
        return false;
    }
}

bool VirtualMemory::TakeNarrowedLocked(HeldMemory* held) {
    bool any = false;
    for (auto& [device, retired] : retired_) {
        for (Mapping* mapping = retired.first; mapping != nullptr;) {
            Mapping* const next = mapping->newerRetired;
            if (HeldMemory::Freed* const found = held->Find(mapping->number);
                found != nullptr && !mapping->narrowed) {
                mapping->pending = std::move(found->pending);
                mapping->narrowed = true;
            }
            any = TakeDown(mapping) || any;
            mapping = next;
        }
    }
    return any;
}

void VirtualMemory::AddHeldUp(const Device* device, HeldUp* held) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = retired_.find(device);
    for (const Mapping* mapping = found == retired_.end() ? nullptr : found->second.first;
         mapping != nullptr; mapping = mapping->newerRetired) {
        if (mapping->physical->handle == 0) {
            held->Add(mapping->bytes, mapping->pending);
        }
    }
}

// Unmaps a retired range. False: work still uses it (`pending` is not empty), or
// a thread holds it. A host that cannot
// unmap it keeps no memory of the program's: then the addresses lead to pages that others get,
// until something else is mapped there or the reservation ends. Only a program that uses what it
// has unmapped sees them.
bool VirtualMemory::TakeDown(Mapping* mapping) {
    while (!mapping->pending.empty()) {
        if (!Reached(mapping->pending.back())) {
            return false;
        }
        mapping->pending.pop_back();
    }
    if (memory_.holds().Meets(RangeOf(*mapping))) {
        return false;
    }
    if (!VacateAddresses(reinterpret_cast<void*>(mapping->begin), mapping->bytes)) {
        Log(LogLevel::kWarn,
            "the {} bytes unmapped at {:#x} stay accessible, because the process has as many "
            "mappings as vm.max_map_count allows",
            mapping->bytes, mapping->begin);
    }
    ForgetForkRecord(mapping->forkRange);
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

void VirtualMemory::GiveBackIfUnused(PhysicalMemory* physical) {
    if (physical->handle == 0 && physical->mappings == 0) {
        if (physical->pages != nullptr) {
            if (physical->shareName != 0) {
                TheShareServer().Withdraw(physical->shareName);
            }
            TheUnmappedPages().GiveBack(physical->pages);
            if (physical->place.device != nullptr) {
                memory_.Credit(physical->place.device, physical->bytes);
            }
        }
        physical->grant.reset();
        physical_.Release(physical);
    }
}

void VirtualMemory::GiveBackIfUnused(Reservation* reservation) {
    if (reservation->released && reservation->mappings == 0) {
        const uintptr_t begin = reservation->begin;
        ReleaseAddresses(reinterpret_cast<void*>(begin), reservation->bytes);
        reservations_.erase(begin);
    }
}

void VirtualMemory::ReleaseAll(const Device* device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto belongs = [&](const Device* owner) { return device == nullptr || owner == device; };
    for (auto& [begin, mapping] : mappings_) {
        if (!mapping.retired &&
            (belongs(mapping.physical->place.device) || belongs(mapping.reservation->device))) {
            try {
                RetireLocked(mapping);
            } catch (const std::bad_alloc&) {
                // Other devices are busy, and there is no memory for their places: the mapping
                // stays.
            }
        }
    }
    physical_.ForEach([&](PhysicalMemory& physical) {
        if (physical.handle != 0 && belongs(physical.place.device)) {
            physical.handle = 0;
            GiveBackIfUnused(&physical);
        }
    });
    for (auto entry = reservations_.begin(); entry != reservations_.end();) {
        Reservation& reservation = (entry++)->second;  // it may be erased
        if (belongs(reservation.device)) {
            reservation.released = true;
            GiveBackIfUnused(&reservation);
        }
    }
    ReclaimLocked();
}

}  // namespace advstep
