// SPDX-License-Identifier: Apache-2.0
// Memory on large pages, as the device has.

#pragma once

#include <cstddef>
#include <memory>

struct UnmapPages {
    size_t bytes;
    void operator()(unsigned char* memory) const;
};
using LargePages = std::unique_ptr<unsigned char, UnmapPages>;

/// Returns memory that is there, on large pages where the system has them. Throws std::bad_alloc.
LargePages MapLargePages(size_t bytes);
