// SPDX-License-Identifier: Apache-2.0
// The count of pinned host memory, for the sanitizer's check of limits.

#pragma once

#include <cstdint>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/sanitizer.h"
#include "src/base/status.h"
#include "src/runtime/device/device_resources.h"

namespace advstep {

/// Notes what a block of pinned memory takes, until UnpinCounted. Without memory for the note, the
/// block does not count.
void NotePinned(const void* address, ResourceHold hold) noexcept;

/// Calls `pin`, which pins `bytes` at *address and returns a Status. 207001: the host has no more
/// pinned memory, by the check of limits.
template <typename Pin>
Status PinCounted(const Device& device, uint64_t bytes, void* const* address, Pin&& pin) {
    ResourceHold hold;
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(&device, DeviceResource::kPinnedBytes,
                                               ACL_ERROR_RT_MEMORY_ALLOCATION, &hold, bytes));
    Status pinned = pin();
    if (pinned.ok() && Sanitizing(SanitizerCheck::kLimits)) {
        NotePinned(*address, std::move(hold));
    }
    return pinned;
}

ResourceHold TakePinned(const void* address);

/// Calls `unpin`, which returns a Status, and gives back what the block took if that succeeds. What
/// it took leaves the list before, because another block may get its address right after.
template <typename Unpin>
Status UnpinCounted(const void* address, Unpin&& unpin) {
    if (!Sanitizing(SanitizerCheck::kLimits)) {
        return unpin();
    }
    ResourceHold hold = TakePinned(address);
    Status unpinned = unpin();
    if (!unpinned.ok()) {
        NotePinned(address, std::move(hold));
    }
    return unpinned;
}

}  // namespace advstep
