// SPDX-License-Identifier: Apache-2.0
// One sequence's view of the paged KV cache, for the kernels.

#pragma once

#include <algorithm>
#include <cstdint>

#include "model_kernels.h"

namespace serve {

/// Stands for a cell that is not in the cache: no position looks like it.
inline constexpr KvCell kNoCell = {-1, -1, 0};

/// Blocks outside the cache are not followed: such a write is lost and such a read gives kNoCell,
/// which the check at the end of the request finds.
class PagedSequence {
 public:
    PagedSequence(const ModelMemory& memory, const int32_t* table)
        : memory_(memory), table_(table) {}

    static PagedSequence OfSlot(const ModelMemory& memory, int64_t slot) {
        return {memory, memory.slotTables + slot * memory.maxBlocks};
    }

    KvCell CellAt(int64_t position) const {
        const KvCell* cell = Find(position);
        return cell != nullptr ? *cell : kNoCell;
    }

    /// visit(position, cell) for the positions [begin, end) in order, a block at a time.
    template <typename Visit>
    void ForEach(int64_t begin, int64_t end, const Visit& visit) const {
        for (int64_t position = begin; position < end;) {
            const int64_t column = position / memory_.blockSize;
            KvCell* block = Block(column);
            const int64_t first = column * memory_.blockSize;
            const int64_t stop = std::min(end, first + memory_.blockSize);
            for (; position < stop; ++position) {
                KvCell lost = kNoCell;
                visit(position, block != nullptr ? block[position - first] : lost);
            }
        }
    }

    /// The first cell of a column's block; NULL: there is none.
    KvCell* Block(int64_t column) const {
        if (column < 0 || column >= memory_.maxBlocks) {
            return nullptr;
        }
        const int64_t cell = table_[column] * memory_.blockSize;
        const bool inside = cell >= 0 && cell + memory_.blockSize <= memory_.cacheCells;
        return inside ? memory_.cache + cell : nullptr;
    }

 private:
    // NULL: it is in no block.
    const KvCell* Find(int64_t position) const {
        if (position < 0) {
            return nullptr;
        }
        // No sequence is longer than 32 bits, in which a division takes a fraction of the time.
        const auto place = static_cast<uint32_t>(position);
        const auto size = static_cast<uint32_t>(memory_.blockSize);
        const KvCell* block = Block(place / size);
        return block != nullptr ? block + place % size : nullptr;
    }

    const ModelMemory& memory_;
    const int32_t* table_;
};

}  // namespace serve
