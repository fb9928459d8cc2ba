// SPDX-License-Identifier: Apache-2.0
// The memory of all devices, and the pinned memory of the host.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/virtual_memory.h"

namespace advstep {

// Never destroyed: threads and queued work may outlive main().

DeviceMemory& TheDeviceMemory();
VirtualMemory& TheVirtualMemory();

/// Gives back the freed memory of all devices that waits for work that does not use it. True: it
/// was something.
bool NarrowHeldMemory() noexcept;

/// Adds to the failure of an allocation how much of the device's memory has been freed and waits.
Status WithHeldUp(const Device* device, Status failure);

/// Calls `take`, which takes memory of the device and returns a Status. If memory lacks, calls it
/// again when freed memory has been given back that no work uses. 207001: the message says also how
/// much waits.
template <typename Take>
Status TakeDeviceMemory(const Device* device, Take&& take) {
    TheVirtualMemory().Reclaim();  // unmapped memory counts as used until then
    Status taken = take();
    if (taken.code() == ACL_ERROR_RT_MEMORY_ALLOCATION && NarrowHeldMemory()) {
        taken = take();
    }
    return taken.code() == ACL_ERROR_RT_MEMORY_ALLOCATION ? WithHeldUp(device, std::move(taken))
                                                          : std::move(taken);
}

/// Returns the places to wait for before the program may do with the range what it likes:
/// `pending`, without work that does not use the range.
std::vector<Ticket> PlacesThatUse(HeldMemory::Freed range, std::vector<Ticket>&& pending);

/// Returns whether the task that the calling thread runs may use the range on a device: it lies in
/// one allocation, each part of which is live or has been freed since the task was queued.
bool UsableInTask(const void* address, size_t bytes);

}  // namespace advstep
