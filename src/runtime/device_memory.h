#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task.h"

namespace advstep {

class Device;

enum class MemoryKind { kDevice, kPinnedHost };

/// A live allocation.
struct Allocation {
    uintptr_t begin = 0;
    size_t bytes = 0;
    MemoryKind kind = MemoryKind::kDevice;
    const Device* device = nullptr;  // whose memory it is; null for pinned host memory

    size_t BytesFrom(const void* address) const {
        return begin + bytes - reinterpret_cast<uintptr_t>(address);
    }
};

/// All device and pinned host memory of the process, by address.
///
/// A freed block goes back when the work that was queued before has run: it leaves the map at once
/// and waits, with the streams' places, on a list that the next call here looks through.
/// mutex_ guards everything; look-ups share it.
class DeviceMemory {
 public:
    /// `pendingPlaces` tells where the streams with work under way stand now.
    explicit DeviceMemory(std::vector<Ticket> (*pendingPlaces)()) : pendingPlaces_(pendingPlaces) {}

    /// Codes: 207001 more than is free.
    Status Allocate(MemoryKind kind, const Device* device, size_t bytes, void** address);

    /// 107000: no start of a live allocation of that kind.
    Status Free(MemoryKind kind, void* address);

    /// The allocation that an address lies in. False: none.
    bool Find(const void* address, Allocation* allocation) const;

    /// Grows whenever an address may have become invalid, so that a check made before still holds
    /// while it stands.
    uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

    uint64_t FreeBytes(const Device& device);

    /// Frees everything of the device, or with null everything there is.
    void ReleaseAll(const Device* device);

 private:
    struct Retired {
        Allocation allocation;
        std::vector<Ticket> pending;
    };

    void ReclaimLocked();
    void GiveBackLocked(const Allocation& allocation);

    void RetireLocked(const Allocation& allocation);

    std::vector<Ticket> (*const pendingPlaces_)();
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, Allocation> live_;  // by begin
    std::vector<Retired> retired_;
    std::unordered_map<const Device*, uint64_t> used_;
    std::atomic<uint64_t> epoch_{1};
};

}  // namespace advstep
