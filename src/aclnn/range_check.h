// SPDX-License-Identifier: Apache-2.0
// Checks that memory of a call is the device's, and remembers for each thread what it has found.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/base/thread_memory.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/memories.h"

namespace advstep {

/// 107000: [address, address + bytes) is neither inside one allocation of the device nor inside
/// registered memory, which every device can use. The message contains `name`. *left: the bytes
/// from the address to the end of the allocation.
Status FindRange(const Device& device, const char* name, const void* address, uint64_t bytes,
                 uint64_t* left);

/// 107000: an address is not a multiple of the size of an element.
Status MisalignedError(const char* name, uintptr_t address, uint64_t alignment);

/// The checks of the ranges of one call. A range that the calling thread has found stays known
/// until memory is freed.
class RangeCheck {
 public:
    explicit RangeCheck(const Device& device)
        : device_(device), epoch_(TheDeviceMemory().epoch()), known_(ThreadMemory<KnownRanges>()) {}

    /// DeviceMemory's epoch, which was read before the checks.
    uint64_t epoch() const { return epoch_; }

    /// 107000: as FindRange. No bytes are always right.
    Status Check(const char* name, uintptr_t address, uint64_t bytes) {
        KnownRange unknown{};
        KnownRange& known = known_ != nullptr ? (*known_)[PlaceOf(address)] : unknown;
        if (bytes == 0 || (known.address == address && known.epoch == epoch_ &&
                           known.device == &device_ && known.bytes >= bytes)) {
            return {};
        }
        uint64_t left = 0;
        ADVSTEP_RETURN_IF_ERROR(
            FindRange(device_, name, reinterpret_cast<const void*>(address), bytes, &left));
        known = {address, epoch_, &device_, left};
        return {};
    }

 private:
    // `bytes` from `address` on are usable by the device, as long as the epoch of DeviceMemory is
    // the same. It is plain data, so that calls from global destructors can still use it.
    struct KnownRange {
        uintptr_t address;
        uint64_t epoch;
        const Device* device;
        uint64_t bytes;
    };

    static constexpr size_t kKnownRanges = 64;  // of one thread: more than a decode step's tensors

    using KnownRanges = std::array<KnownRange, kKnownRanges>;

    // Returns the place of an address in KnownRanges.
    static size_t PlaceOf(uintptr_t address) {
        constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // spreads addresses that differ little
        constexpr int kTopBits = 58;
        static_assert(kKnownRanges == size_t{1} << (64 - kTopBits));
        return (address * kGolden) >> kTopBits;
    }

    const Device& device_;
    const uint64_t epoch_;
    KnownRanges* const known_;  // null: memory is short
};

}  // namespace advstep
