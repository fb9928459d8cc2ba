// SPDX-License-Identifier: Apache-2.0
// The search for a range in a map of ranges.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// Returns the last entry that overlaps [begin, begin + bytes) in a map of ranges by their begin,
/// or the end of the map.
template <typename Map>
auto FindMeeting(Map& map, uintptr_t begin, size_t bytes) {
    auto next = map.lower_bound(begin + bytes);
    if (next == map.begin()) {
        return map.end();
    }
    --next;
    return next->second.begin + next->second.bytes > begin ? next : map.end();
}

}  // namespace advstep
