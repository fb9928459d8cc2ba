// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses: reserved ones without memory, and look-ups in maps of ranges.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// An allocation of at least this size begins at a multiple of it, with a hint to use large pages.
inline constexpr size_t kLargePage = size_t{2} << 20;

/// Reserves addresses without memory: an access to them raises a signal. The range begins at
/// `wanted`, or at any multiple of the alignment if `wanted` is null or not free. Null: the host
/// has no such range.
void* ReserveAddresses(void* wanted, size_t bytes, size_t alignment);

void ReleaseAddresses(void* address, size_t bytes);

/// Makes the memory inaccessible and keeps the addresses reserved. False: the process has too many
/// mappings for that, so the memory stays where it is.
bool VacateAddresses(void* address, size_t bytes);

/// Returns whether the program has memory at all of these addresses.
bool HasMemory(const void* address, size_t bytes);

/// Returns the last entry that overlaps [begin, begin + bytes) in a map of ranges by their begin,
/// or the end of the map.
template <typename Map>
auto FindOverlap(Map& map, uintptr_t begin, size_t bytes) {
    auto next = map.lower_bound(begin + bytes);
    if (next == map.begin()) {
        return map.end();
    }
    --next;
    return next->second.begin + next->second.bytes > begin ? next : map.end();
}

}  // namespace advstep
