#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"

namespace advstep {

/// Pages without an address, which can be mapped at any number of them: ranges of one file in
/// memory. The file only grows, and a range that goes back leaves a hole, so that a range costs
/// neither a descriptor nor memory until it is written. VirtualMemory's lock guards it.
class PagePool {
 public:
    PagePool() = default;
    PagePool(const PagePool&) = delete;
    PagePool& operator=(const PagePool&) = delete;
    ~PagePool();

    /// 207001: the host has none.
    Status Take(size_t bytes, uint64_t* offset);
    void GiveBack(uint64_t offset, size_t bytes);

    /// Maps a range in place of what is mapped at the address. 207001: the host cannot.
    Status MapAt(void* address, size_t bytes, uint64_t offset) const;

 private:
    int file_ = -1;
    uint64_t end_ = 0;
};

}  // namespace advstep
