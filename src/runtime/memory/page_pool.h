// SPDX-License-Identifier: Apache-2.0
// Physical pages without an address: ranges of one file in memory.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

/// Pages without an address, which can be mapped at any number of addresses. They are ranges of one
/// file in memory. The file only grows, and a range that is given back leaves a hole, so a range
/// costs no descriptor, and no memory until it is written. The lock of VirtualMemory guards the
/// pool.
class PagePool {
 public:
    PagePool() = default;
    PagePool(const PagePool&) = delete;
    PagePool& operator=(const PagePool&) = delete;
    ~PagePool();

    /// Takes a new range. 207001: the host has no memory for it.
    Status Take(size_t bytes, uint64_t* offset);
    void GiveBack(uint64_t offset, size_t bytes);

    /// Maps a range at the address, in place of what is mapped there. 207001: the host cannot map
    /// it.
    Status MapAt(void* address, size_t bytes, uint64_t offset) const;

 private:
    int file_ = -1;
    uint64_t end_ = 0;
};

}  // namespace advstep
