// SPDX-License-Identifier: Apache-2.0
// Freed blocks whose addresses no new block gets for a while.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/memory/memory_block.h"

namespace advstep {

/// The blocks that were freed last, under the sanitizer's check memory: work that still uses their
/// addresses is found, and does not hit another block. The bytes of a kept block count as free, so
/// there are few: a block is kept until kMost others have been freed or allocated, and large ones
/// are not kept. Guarded blocks have a quarantine of their own. Not thread-safe.
class FreedBlocks {
 public:
    /// Keeps the block, or gives it back. It gives back the oldest ones for which there is no room.
    void Keep(void* address, const BlockSource& source, size_t bytes) noexcept;
    /// A block is allocated: gives back the one that has been kept for long enough.
    void Allocates() noexcept;
    void GiveBackAll() noexcept;

 private:
    static constexpr size_t kMost = 16;
    static constexpr size_t kMostBytes = size_t{64} << 20;

    struct Kept {
        void* address;
        BlockSource source;
        size_t bytes;
        uint64_t since;  // allocations_
    };

    void GiveBackOldest() noexcept;

    Kept kept_[kMost] = {};  // a ring: count_ of them from first_ on, oldest first
    size_t first_ = 0;
    size_t count_ = 0;
    size_t bytes_ = 0;
    uint64_t allocations_ = 0;
};

}  // namespace advstep
