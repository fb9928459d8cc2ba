// SPDX-License-Identifier: Apache-2.0
// Registered host memory: the program's own, and ranges inside blocks of pinned host memory.
#include "acl/acl_base.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/device_memory.h"

namespace advstep {

Status DeviceMemory::AlreadyRegistered(const void* address, size_t bytes, uintptr_t begin,
                                       size_t known) const {
    return Error(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                 "ptr is {}, a range of {} bytes that meets the {} bytes pinned at {:#x}; expected "
                 "memory that is not pinned, or a range inside one block of aclrtMallocHost",
                 address, bytes, known, begin);
}

Status DeviceMemory::Register(void* address, size_t bytes, const RegistrationEffect& effect) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto other = LastBefore(begin + bytes, begin);
    if (other == live_.end()) {
        Allocation registered{
            begin, bytes, MemoryKind::kPinnedHost, nullptr, MemoryOrigin::kRegistered, 0, epoch()};
        registered.mapped = effect.mapped;
        registered.pageable = !effect.pinned;
        live_.emplace(begin, registered);
        return {};
    }
    const Allocation& known = other->second;
    if (known.OfDevice()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "ptr is {}, a range of {} bytes with device memory at {:#x}; expected host "
                     "memory",
                     address, bytes, known.begin);
    }
    const bool inside = known.origin == MemoryOrigin::kAllocated && known.begin <= begin &&
                        begin + bytes <= known.end();
    if (!inside) {
        return AlreadyRegistered(address, bytes, known.begin, known.bytes);
    }
    return RegisterInsideLocked(known, begin, bytes, effect);
}

Status DeviceMemory::RegisterInsideLocked(const Allocation& block, uintptr_t begin, size_t bytes,
                                          const RegistrationEffect& effect) {
    const auto* const address = reinterpret_cast<const void*>(begin);
    if (effect.onlyPageable) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "ptr is {}, inside the {} bytes pinned at {:#x}; expected memory that is not "
                     "pinned, or a flag without ACL_HOST_REG_PINNED",
                     address, block.bytes, block.begin);
    }
    const auto other = FindOverlap(inside_, begin, bytes);
    if (other != inside_.end()) {
        return AlreadyRegistered(address, bytes, other->second.begin, other->second.bytes);
    }
    inside_.emplace(begin, Inside{begin, bytes, effect.mapped});
    return {};
}

bool DeviceMemory::MappedInside(const Registrations& inside, const Allocation& block,
                                uintptr_t address) {
    if (inside.empty() || block.kind != MemoryKind::kPinnedHost ||
        block.origin != MemoryOrigin::kAllocated) {
        return false;
    }
    const auto found = FindOverlap(inside, address, 1);
    return found != inside.end() && found->second.mapped;
}

// Ends the registrations inside a block that is freed. Work that uses the block keeps its memory,
// with or without a registration.
void DeviceMemory::EndRegistrationsInsideLocked(const Allocation& block) {
    const auto end = inside_.lower_bound(block.end());
    for (auto entry = inside_.lower_bound(block.begin); entry != end;) {
        endedInside_.insert(inside_.extract(entry++));  // needs no memory, so a free cannot fail
    }
}

void DeviceMemory::ForgetRegistrationsInsideLocked(const Allocation& block) {
    if (!endedInside_.empty()) {
        endedInside_.erase(endedInside_.lower_bound(block.begin),
                           endedInside_.lower_bound(block.end()));
    }
}

Status DeviceMemory::CheckRegisteredLocked(const void* address) const {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto found = live_.find(begin);
    const bool own = found != live_.end() && found->second.origin == MemoryOrigin::kRegistered;
    return own || inside_.count(begin) != 0
               ? Status()
               : Error(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                       "ptr is {}, not the start of a registered range; expected an address of "
                       "aclrtHostRegister",
                       address);
}

Status DeviceMemory::CheckRegistered(const void* address) const {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return CheckRegisteredLocked(address);
}

Status DeviceMemory::Unregister(void* address, std::vector<Ticket>* pending) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckRegisteredLocked(address));
    *pending = pendingPlaces_(nullptr);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    if (inside_.erase(begin) == 0) {
        live_.erase(begin);
    }
    epoch_.fetch_add(1, std::memory_order_release);
    return {};
}

}  // namespace advstep
