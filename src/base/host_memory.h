// SPDX-License-Identifier: Apache-2.0
// How much memory the host can hold, and how much of that is left.

#pragma once

#include <cstdint>
#include <string>

namespace advstep {

struct HostMemory {
    uint64_t capacity = 0;   // bytes that the process could hold if no other did
    uint64_t available = 0;  // bytes that it can take now without any swapping
};

/// Reads /proc/meminfo, and the limits of the control groups that the process is in, of version 1
/// and 2. The capacity is the memory with the swap, or the lowest limit. What cannot be read limits
/// nothing. `root` is in front of all paths, for tests.
HostMemory ReadHostMemory(const std::string& root = "");

/// Returns the capacity, which is read once.
uint64_t HostCapacity();

/// Returns how much all devices together have unless a setting says more: most of what was
/// available at the first call. The rest is for the program itself.
uint64_t HostShareOfDevices();

}  // namespace advstep
