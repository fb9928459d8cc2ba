// SPDX-License-Identifier: Apache-2.0
// Finds slots and blocks of a KV cache that two rows of a table have, after a launch has written
// slots.

#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "op_kernel/common/kernel.h"

namespace advstep {

/// A set of block ids that may hold some more. It is small, so that most of a large table is looked
/// up in it alone.
class BlockSieve {
 public:
    void Add(int64_t block) { Word(block) |= BitOf(block); }
    bool MayHold(int64_t block) const {
        return (words_[static_cast<uint64_t>(block) / 64 % kWords] & BitOf(block)) != 0;
    }

 private:
    static constexpr size_t kWords = 1024;

    static uint64_t BitOf(int64_t block) {
        return uint64_t{1} << (static_cast<uint64_t>(block) % 64);
    }
    uint64_t& Word(int64_t block) { return words_[static_cast<uint64_t>(block) / 64 % kWords]; }

    uint64_t words_[kWords]{};
};

/// Where each of some blocks was seen first: a number of the caller's own.
class BlockPlaces {
 public:
    static constexpr int64_t kNowhere = -1;

    explicit BlockPlaces(int64_t most) {
        size_t size = 16;
        while (size < 2 * static_cast<size_t>(most)) {
            size *= 2;
        }
        entries_.resize(size, {0, kNowhere});
    }

    /// Returns the place of the block, or kNowhere.
    int64_t Find(int64_t block) const { return entries_[IndexOf(block)].place; }

    /// Returns the place where the block was seen first, which is this one if it is new.
    int64_t Add(int64_t block, int64_t place) {
        Entry& entry = entries_[IndexOf(block)];
        if (entry.place == kNowhere) {
            entry = {block, place};
        }
        return entry.place;
    }

 private:
    struct Entry {
        int64_t block;
        int64_t place;
    };

    size_t IndexOf(int64_t block) const {
        size_t index = static_cast<uint64_t>(block) * 0x9E3779B97F4A7C15u >> 32;
        for (;; ++index) {
            const Entry& entry = entries_[index & (entries_.size() - 1)];
            if (entry.place == kNowhere || entry.block == block) {
                return index & (entries_.size() - 1);
            }
        }
    }

    std::vector<Entry> entries_;
};

/// A table of blocks, a row for each sequence.
template <typename Table>
struct BlockRows {
    const Table* first;
    int64_t stride;
    int64_t rows;
    int64_t blockSize;
};

/// The kinds of the faults of CheckSlots, whose row is that of the table.
struct SlotFaults {
    int32_t sameSlot;     // slot, the other row
    int32_t sharedBlock;  // block, the other row, column there or -1 if it writes there too
};

/// Looks at what a launch has written: `slots` numbers, of which Slot(i) is one and Row(i) the row
/// of the table that it belongs to. Held(row) is the number of blocks that a row had before the
/// first one that it writes. Reports a slot that two rows write, and a block that one row writes
/// and another one holds. Position 0 in block 0 is where hosts let rows write that have no
/// sequence, since a sequence that decodes has a token before: such rows may share it with each
/// other. It is for the sanitizer: it takes memory, and does nothing without.
template <typename Table, typename RowOf, typename SlotOf, typename HeldOf>
void CheckSlots(const CoreContext& core, const BlockRows<Table>& table, int64_t slots,
                const SlotFaults& faults, RowOf&& row, SlotOf&& slot, HeldOf&& held) try {
    BlockSieve sieve;
    BlockPlaces writers(slots);
    const auto idle = [&](int64_t i) { return slot(i) == 0 && held(row(i)) == 0; };
    for (int64_t i = 0; i < slots; ++i) {
        if (slot(i) < 0) {
            continue;
        }
        const int64_t block = slot(i) / table.blockSize;
        sieve.Add(block);
        const int64_t first = writers.Add(block, i);
        if (row(first) == row(i) || (idle(first) && idle(i))) {
            continue;
        }
        bool same = false;
        for (int64_t other = first; other < i && !same; ++other) {
            same = slot(other) == slot(i) && row(other) != row(i);
            if (same) {
                core.Report(row(i), faults.sameSlot, {slot(i), row(other)});
            }
        }
        if (!same) {
            core.Report(row(i), faults.sharedBlock, {block, row(first), -1});
        }
    }
    for (int64_t at = 0; at < table.rows; ++at) {
        const Table* const blocks = table.first + at * table.stride;
        const int64_t columns = held(at);
        for (int64_t column = 0; column < columns; ++column) {
            const int64_t block = blocks[column];
            const int64_t writer =
                sieve.MayHold(block) ? writers.Find(block) : BlockPlaces::kNowhere;
            if (writer != BlockPlaces::kNowhere && row(writer) != at) {
                core.Report(row(writer), faults.sharedBlock, {block, at, column});
            }
        }
    }
} catch (const std::bad_alloc&) {
}

}  // namespace advstep
