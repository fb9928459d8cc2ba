// SPDX-License-Identifier: Apache-2.0
// Large pages for device blocks, where the host gives files none by itself.

#pragma once

#include <cstddef>

namespace advstep {

/// Called before a copy or a fill writes all of [begin, begin + bytes), which has been checked:
/// asks the host for large pages for the whole ones of a device block in there. They cost fewer
/// faults and fewer misses of the TLB. Nothing else changes: the pages would come now in any case,
/// so no memory is taken that would not be. The host is asked once for each of them.
void AskForLargePages(void* begin, size_t bytes) noexcept;

/// Called after the pages of [begin, begin + bytes) have been given back: a large page of which a
/// part is a hole has been parted by the host, which is asked again.
void LargePagesParted(void* begin, size_t bytes) noexcept;

}  // namespace advstep
