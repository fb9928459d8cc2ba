// SPDX-License-Identifier: Apache-2.0
// Moves the rows of a core many at a time: AdvanceStep, and every step of AdvanceStepMulti, under
// conformances standard and vllm.

#pragma once

#include <algorithm>
#include <cstdint>

#include "op_kernel/advance_step/advance_step_lanes.h"
#include "op_kernel/advance_step/advance_step_rows.h"

namespace advstep {

/// The check keeps the slots that it computes for the commit, as far as there is memory for them.
/// So the block table, which is most of the data that a launch reads, is read once.
constexpr int32_t kKeptBytesPerRow = sizeof(int64_t);

/// One step of the launch.
struct StepOfLaunch {
    int64_t index = 0;  // of the row of slotMapping that it fills
    int64_t added = 0;  // to the lengths that the tensor has now
};

template <typename Rows>
class Pieces {
 public:
    using Slot = typename Rows::SlotType;

    Pieces(const CoreContext& core, const AdvanceStepTiling& t, const AdvanceStepArgs& a)
        : core_(core),
          t_(t),
          a_(a),
          lanes_(LanesFor(core.isa, sizeof(typename Rows::LengthType) == sizeof(int32_t),
                          sizeof(Slot) == sizeof(int32_t),
                          sizeof(typename Rows::TableType) == sizeof(int32_t))),
          // A call for all cores, as most are, needs no products.
          rows_(core.index == 0 && core.count >= t.coreCount ? RowRange{0, t.numSeqs}
                                                             : RowsOf(core, t)),
          queriesEnd_(std::min(rows_.end, t.numQueries)) {}

    /// Calls visit(good, rows) for the queries of the core, piece by piece. `good` is false if a
    /// query of the piece may be bad.
    template <typename Visit>
    void Check(const StepOfLaunch& step, const Visit& visit) const {
        const RowRange kept = Kept(step);
        if (kept.begin < kept.end) {
            visit(Place(step, kept, KeptSlots(step) + kept.begin), kept);
        }
        if (kept.end < queriesEnd_) {
            CheckUnkept(step, {kept.end, queriesEnd_}, visit);
        }
    }

    /// Moves the queries of the core, which have passed the check.
    void Advance(const StepOfLaunch& step) const {
        const RowRange kept = Kept(step);
        if (kept.begin < kept.end) {
            lanes_.advance(t_, a_, kept.begin, kept.end - kept.begin, KeptSlots(step) + kept.begin);
        }
        if (kept.end < queriesEnd_) {
            lanes_.placeAndAdvance(t_, a_, kept.end, queriesEnd_ - kept.end);
        }
    }

    /// Checks the queries of the core and moves them, if the slots of all have room. False: there
    /// is none, a query may be bad, or there are no queries; nothing has moved.
    bool CheckThenAdvance() const {
        const int64_t queries = queriesEnd_ - rows_.begin;
        return queries > 0 && Room() >= queriesEnd_ &&
               lanes_.placeThenAdvance(t_, a_, rows_.begin, queries, KeptSlots({}) + rows_.begin);
    }

    /// Blanks the padding rows of the core.
    void Blank() const {
        for (int64_t row = std::max(rows_.begin, t_.numQueries); row < rows_.end; ++row) {
            Rows::Blank(a_, row);
        }
    }

 private:
    // Returns the number of slots that there is memory for.
    int64_t Room() const {
        return static_cast<int64_t>(static_cast<uint64_t>(core_.keptBytes) / kKeptBytesPerRow);
    }

    // Returns the rows of the core whose slots are kept: the first ones, as many as have room.
    RowRange Kept(const StepOfLaunch& step) const {
        const int64_t room = Room() - step.index * t_.numSeqs;
        return {rows_.begin, std::max(rows_.begin, std::min(room, queriesEnd_))};
    }

    // Returns the memory of the kept slots, from row 0 on.
    Slot* KeptSlots(const StepOfLaunch& step) const {
        return reinterpret_cast<Slot*>(core_.kept) + step.index * t_.numSeqs;
    }

    bool Place(const StepOfLaunch& step, RowRange rows, Slot* slots) const {
        return lanes_.place(t_, a_, step.added, rows.begin, rows.end - rows.begin, slots);
    }

    template <typename Visit>
    [[gnu::noinline]] void CheckUnkept(const StepOfLaunch& step, RowRange range,
                                       const Visit& visit) const {
        constexpr int64_t kMostPiece = 1024;
        Slot piece[kMostPiece];  // stands for a core's unified buffer
        ForEachTile(range, std::min(t_.rowsPerTile * core_.count, kMostPiece),
                    [&](RowRange rows) { visit(Place(step, rows, piece), rows); });
    }

    const CoreContext& core_;
    const AdvanceStepTiling& t_;
    const AdvanceStepArgs& a_;
    const AdvanceStepLanes& lanes_;
    const RowRange rows_;  // of the core
    const int64_t queriesEnd_;
};

}  // namespace advstep
