// SPDX-License-Identifier: Apache-2.0
// The live and the freed blocks of memory, by address.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "src/base/call_stack.h"
#include "src/runtime/sanitizer/access_history.h"
#include "src/runtime/sanitizer/interval_map.h"

namespace advstep {

class Device;

/// A block of memory that work can use: an allocation, a mapping, or registered host memory.
struct Block {
    enum class Kind : uint8_t { kDevice, kMapped, kImported, kPinned, kRegistered };

    Kind kind = Kind::kDevice;
    uintptr_t begin = 0;
    uint64_t bytes = 0;
    const Device* device = nullptr;  // null: host memory
    uint64_t number = 0;             // no two blocks have the same
    CallStack allocated{};
    CallStack freed{};
    uint64_t patterned = 0;  // its first bytes that were filled with the pattern
    bool ended = false;
    bool endedWithDevice = false;  // the program has not freed it
    AccessHistory history;
    IntervalSet unwritten;  // bytes that nothing has written yet; empty unless they are watched
    IntervalSet poisoned;

    uintptr_t end() const { return begin + bytes; }
    /// Returns whether a use may go from this block into the one behind it: tensors lie in
    /// mappings that are neighbours, and in host memory that was registered piece by piece.
    bool GoesOnIn(const Block& next) const {
        return kind == next.kind && kind != Kind::kDevice && kind != Kind::kImported;
    }
    /// Returns words for the kind, as "device memory".
    const char* KindText() const;
};

/// All blocks. Not thread-safe.
class BlockTable {
 public:
    /// Enters a block. Freed ones that it meets are forgotten.
    std::shared_ptr<Block> Enter(Block::Kind kind, uintptr_t begin, uint64_t bytes,
                                 const Device* device);
    /// Removes the block that begins there and keeps it as a freed one. Null: there is none.
    std::shared_ptr<Block> Leave(uintptr_t begin);

    /// Finds the live block in which an address lies; null: there is none.
    std::shared_ptr<Block> Find(uintptr_t address) const;
    /// Finds the block that was freed last among those in which the address lay.
    std::shared_ptr<Block> FindFreed(uintptr_t address) const;

    template <typename Visit>
    void ForEach(Visit&& visit) const {
        for (const auto& [begin, block] : live_) {
            visit(*block);
        }
    }

 private:
    static constexpr size_t kMostFreed = 4096;

    std::map<uintptr_t, std::shared_ptr<Block>> live_;  // by begin
    std::deque<std::shared_ptr<Block>> freed_;          // the last ones, oldest first
    uint64_t entered_ = 0;
};

}  // namespace advstep
