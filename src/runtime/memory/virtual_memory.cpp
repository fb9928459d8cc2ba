// SPDX-License-Identifier: Apache-2.0
// Implements reservations, physical memory and mappings.

#include "src/runtime/memory/virtual_memory.h"

#include <algorithm>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {

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
        const uint64_t born = memory_.EnterReserved(begin, bytes);
        reservations_.emplace(begin, Reservation{begin, bytes, device, 0, false, born});
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

Status VirtualMemory::Create(const Device* device, size_t bytes, Handle* handle,
                             int32_t attribute) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    retired_.try_emplace(device);
    const auto entry = physical_.Acquire();
    PageRange* pages = nullptr;
    Status taken;
    bool charged = false;
    try {
        taken = memory_.Charge(device, bytes);
        charged = taken.ok();
        if (charged) {
            taken = AllocationFails(AllocationKind::kMemory)
                        ? Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                "size is {} bytes; expected no more than the host can give", bytes)
                        : BarePages().Take(bytes, kGranularity, &pages);
        }
    } catch (const std::bad_alloc&) {
        taken = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!taken.ok()) {
        if (charged) {
            memory_.Credit(device, bytes);
        }
        physical_.Release(entry.object);
        return taken;
    }
    OpenPhysical(entry.object, entry.handle, device, bytes);
    entry.object->pages = pages;
    entry.object->attribute = attribute;
    *handle = entry.handle;
    return {};
}

void VirtualMemory::OpenPhysical(PhysicalMemory* physical, Handle handle, const Device* device,
                                 size_t bytes) {
    physical->handle = handle;
    physical->name = handle;
    physical->uses = 1;
    physical->bytes = bytes;
    physical->device = device;
    physical->attribute = kUsualAttribute;
    physical->pages = nullptr;
    physical->shareKey = 0;
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

void VirtualMemory::GiveBackIfUnused(PhysicalMemory* physical) {
    if (physical->handle == 0 && physical->mappings == 0) {
        if (physical->pages != nullptr) {
            if (physical->shareKey != 0) {
                TheShareServer().Withdraw(physical->shareKey);
            }
            BarePages().GiveBack(physical->pages);
            memory_.Credit(physical->device, physical->bytes);
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

bool VirtualMemory::Reserved(const void* address, size_t bytes) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return FindOverlap(reservations_, reinterpret_cast<uintptr_t>(address), bytes) !=
           reservations_.end();
}

void VirtualMemory::ReleaseAll(const Device* device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto belongs = [&](const Device* owner) { return device == nullptr || owner == device; };
    for (auto& [begin, mapping] : mappings_) {
        if (!mapping.retired &&
            (belongs(mapping.physical->device) || belongs(mapping.reservation->device))) {
            try {
                RetireLocked(mapping);
            } catch (const std::bad_alloc&) {
                // Other devices are busy, and there is no memory for their places: the mapping
                // stays.
            }
        }
    }
    physical_.ForEach([&](PhysicalMemory& physical) {
        if (physical.handle != 0 && belongs(physical.device)) {
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
