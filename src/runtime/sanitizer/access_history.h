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

/// For each byte, the accesses that later ones are compared with: all but the old ones, and those
/// before an access of the same call site, which has an order with no later access that they have
/// none with.
class AccessHistory {
 public:
    /// Called with an earlier access that has no order with the new one, and the bytes of both.
    using Conflict = std::function<void(const WorkAccess& earlier, uint64_t begin, uint64_t end)>;
    /// Returns whether the work comes before all work that will be added.
    using IsOld = std::function<bool(const OrderedWork& work)>;

    void Add(uint64_t begin, uint64_t end, const WorkAccess& access, const Conflict& conflict,
             const IsOld& isOld);
    /// Adds an access to some bytes of a range, of which it is not known which. It conflicts with
    /// nothing.
    void AddInexact(uint64_t begin, uint64_t end, const WorkAccess& access);

    /// Calls visit(const WorkAccess&) for the accesses to bytes of [begin, end), some of them more
    /// than once.
    template <typename Visit>
    void ForEach(uint64_t begin, uint64_t end, Visit&& visit) const {
        cells_.ForEach(begin, end, [&](uint64_t, uint64_t, const Cell& cell) {
            std::for_each(cell.begin(), cell.end(), visit);
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
    /// Forgets old accesses.
    void Sweep(const IsOld& isOld);

 private:
    using Cell = std::vector<WorkAccess>;
    struct Inexact {
        uint64_t begin;
        uint64_t end;
        WorkAccess access;
    };
    static constexpr size_t kLeastSweep = 256;

    static void AddTo(Cell* cell, const WorkAccess& access, const IsOld& isOld);

    IntervalMap<Cell> cells_;
    std::vector<Inexact> inexact_;
    size_t sweepAt_ = kLeastSweep;
};

}  // namespace advstep
