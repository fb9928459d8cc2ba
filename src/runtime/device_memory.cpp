#include "src/runtime/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "acl/acl_base.h"
#include "src/runtime/device.h"
#include "src/runtime/stream.h"

namespace advstep {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargePage = size_t{2} << 20;

uint64_t HostBytes() {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void* AllocateHost(size_t bytes) {
    if (bytes > HostBytes()) {
        return nullptr;  // posix_memalign would promise it
    }
    const bool large = bytes >= kLargePage;
    void* address = nullptr;
    if (posix_memalign(&address, large ? kLargePage : kAlignment, bytes) != 0) {
        return nullptr;
    }
    if (large) {
        // Fewer TLB misses on wide block tables; only a hint.
        (void)madvise(address, bytes, MADV_HUGEPAGE);
    }
    return address;
}

}  // namespace

Status DeviceMemory::Allocate(MemoryKind kind, const Device* device, size_t bytes, void** address) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    if (kind == MemoryKind::kDevice) {
        const uint64_t total = device->settings().memoryBytes;
        const uint64_t used = used_[device];
        if (bytes > total - std::min(used, total)) {
            return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "size is {} bytes; expected at most the {} bytes that are free of the {} "
                         "of device {}",
                         bytes, total - std::min(used, total), total, device->id());
        }
    }
    void* const memory = AllocateHost(bytes);
    if (memory == nullptr) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes; expected no more than the host can give", bytes);
    }
    Allocation allocation{reinterpret_cast<uintptr_t>(memory), bytes, kind, device};
    try {
        live_.emplace(allocation.begin, allocation);
    } catch (...) {
        std::free(memory);
        throw;
    }
    if (kind == MemoryKind::kDevice) {
        used_[device] += bytes;
    }
    *address = memory;
    return {};
}

Status DeviceMemory::Free(MemoryKind kind, void* address) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = live_.find(reinterpret_cast<uintptr_t>(address));
    if (found == live_.end() || found->second.kind != kind) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, not the start of a live allocation; expected an address of {}",
                     kind == MemoryKind::kDevice ? "devPtr" : "hostPtr", address,
                     kind == MemoryKind::kDevice ? "aclrtMalloc" : "aclrtMallocHost");
    }
    const Allocation allocation = found->second;
    live_.erase(found);
    RetireLocked(allocation);
    ReclaimLocked();
    return {};
}

// It has left the map, so no check finds it any more. What was checked before is queued by now,
// unless another thread is between the two: freeing what it is about to use is the program's race.
void DeviceMemory::RetireLocked(const Allocation& allocation) {
    epoch_.fetch_add(1, std::memory_order_release);
    retired_.push_back({allocation, pendingPlaces_()});
}

void DeviceMemory::ReclaimLocked() {
    const auto reached = [](const Ticket& ticket) {
        return ticket.stream->Reached(ticket.sequence);
    };
    const auto kept = std::partition(retired_.begin(), retired_.end(), [&](const Retired& retired) {
        return !std::all_of(retired.pending.begin(), retired.pending.end(), reached);
    });
    std::for_each(kept, retired_.end(),
                  [&](const Retired& retired) { GiveBackLocked(retired.allocation); });
    retired_.erase(kept, retired_.end());
}

void DeviceMemory::GiveBackLocked(const Allocation& allocation) {
    if (allocation.kind == MemoryKind::kDevice) {
        used_[allocation.device] -= allocation.bytes;
    }
    std::free(reinterpret_cast<void*>(allocation.begin));
}

bool DeviceMemory::Find(const void* address, Allocation* allocation) const {
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    auto next = live_.upper_bound(wanted);
    if (next == live_.begin()) {
        return false;
    }
    const Allocation& candidate = std::prev(next)->second;
    if (wanted - candidate.begin >= candidate.bytes) {
        return false;
    }
    *allocation = candidate;
    return true;
}

uint64_t DeviceMemory::FreeBytes(const Device& device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    ReclaimLocked();
    return device.settings().memoryBytes - used_[&device];
}

void DeviceMemory::ReleaseAll(const Device* device) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto belongs = [&](const Allocation& allocation) {
        return device == nullptr || allocation.device == device;
    };
    for (auto entry = live_.begin(); entry != live_.end();) {
        if (belongs(entry->second)) {
            const Allocation allocation = entry->second;
            entry = live_.erase(entry);
            RetireLocked(allocation);
        } else {
            ++entry;
        }
    }
    ReclaimLocked();
}

}  // namespace advstep
