// SPDX-License-Identifier: Apache-2.0
// The accesses to the bytes of one block of memory.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/runtime/sanitizer/interval_map.h"
#include "src/runtime/sanitizer/ordered_work.h"

namespace advstep {

/// One access of work to a range.
struct WorkAccess {
    std::shared_ptr<const OrderedWork> work;
    size_t use = 0;  // of work->what->uses
    bool writes = false;

    bool operator==(const WorkAccess& other) const {
        return work == other.work && use == other.use && writes == other.writes;
    }
};

/// For each byte, the last write and the reads since, one of each stream. An access that the host
/// has seen is ordered before everything that is queued later, so it may be forgotten.
class AccessHistory {
 public:
    /// Called with an earlier access that has no order with the new one, and the bytes of both.
    using Conflict = std::function<void(const WorkAccess& earlier, uint64_t begin, uint64_t end)>;

    void Add(uint64_t begin, uint64_t end, const WorkAccess& access, const Conflict& conflict);
    /// Adds an access to some bytes of a range, of which it is not known which. It conflicts with
    /// nothing.
    void AddInexact(uint64_t begin, uint64_t end, const WorkAccess& access);

    /// Calls visit(const WorkAccess&) for the accesses to bytes of [begin, end), some of them more
    /// than once.
    template <typename Visit>
    void ForEach(uint64_t begin, uint64_t end, Visit&& visit) const {
        cells_.ForEach(begin, end, [&](uint64_t, uint64_t, const Cell& cell) {
            if (cell.write.work != nullptr) {
                visit(cell.write);
            }
            for (const WorkAccess& read : cell.reads) {
                visit(read);
            }
        });
        for (const Inexact& inexact : inexact_) {
            if (inexact.begin < end && begin < inexact.end) {
                visit(inexact.access);
            }
        }
    }

    void Erase(uint64_t begin, uint64_t end) { cells_.Erase(begin, end); }

    /// Returns whether so much has been added that Sweep is worth its price.
    bool SweepIsDue() const { return cells_.Size() + inexact_.size() > sweepAt_; }
    /// Forgets the accesses that isSeen(const OrderedWork&) returns true for.
    template <typename IsSeen>
    void Sweep(IsSeen&& isSeen) {
        cells_.Sweep([&](Cell& cell) {
            if (cell.write.work != nullptr && isSeen(*cell.write.work)) {
                cell.write = {};
            }
            cell.reads.erase(
                std::remove_if(cell.reads.begin(), cell.reads.end(),
                               [&](const WorkAccess& read) { return isSeen(*read.work); }),
                cell.reads.end());
            return cell.write.work == nullptr && cell.reads.empty();
        });
        inexact_.erase(
            std::remove_if(inexact_.begin(), inexact_.end(),
                           [&](const Inexact& inexact) { return isSeen(*inexact.access.work); }),
            inexact_.end());
        sweepAt_ = std::max(kLeastSweep, 2 * (cells_.Size() + inexact_.size()));
    }

 private:
    static constexpr size_t kLeastSweep = 256;

    struct Cell {
        WorkAccess write;
        std::vector<WorkAccess> reads;

        bool operator==(const Cell& other) const {
            return write == other.write && reads == other.reads;
        }
    };
    struct Inexact {
        uint64_t begin;
        uint64_t end;
        WorkAccess access;
    };

    static void AddTo(Cell* cell, const WorkAccess& access);

    IntervalMap<Cell> cells_;
    std::vector<Inexact> inexact_;
    size_t sweepAt_ = kLeastSweep;
};

}  // namespace advstep
