// The rows of a core, many at a time: what AdvanceStep and every step of AdvanceStepMulti do under
// conformances standard and vllm.
#pragma once

#include <algorithm>
#include <cstdint>

#include "op_kernel/advance_step/advance_step_lanes.h"
#include "op_kernel/advance_step/advance_step_rows.h"

namespace advstep {

/// The slots that the check works out are kept for the commit, where there is memory for them: the
/// block table, which is most of what a launch reads, is then read once.
constexpr int32_t kKeptBytesPerRow = sizeof(int64_t);

/// One step of the launch: which row of slotMapping it fills, and how far the lengths have come.
struct StepOfLaunch {
    int64_t index = 0;
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
          lanes_(LanesFor(core.isa, t.numSeqs >= kRowsBeyondCaches ? Fetch::kAhead : Fetch::kOnUse,
                          sizeof(typename Rows::LengthType) == sizeof(int32_t),
                          sizeof(Slot) == sizeof(int32_t),
                          sizeof(typename Rows::TableType) == sizeof(int32_t))) {}

    /// Calls visit(good, rows) for the queries of the core, piece by piece; not good: one of the
    /// piece may be bad.
    template <typename Visit>
    void Check(const StepOfLaunch& step, Visit&& visit) {
        ForEach(step, [&](RowRange rows, Slot* slots) { visit(Place(step, rows, slots), rows); });
    }

    /// Moves the queries of the core, which have passed the check.
    void Advance(const StepOfLaunch& step) {
        ForEach(step, [&](RowRange rows, Slot* slots) {
            if (slots == piece_) {
                Place(step, rows, slots);
            }
            lanes_.advance(a_.sampledTokenIds + rows.begin, slots, a_.inputTokens + rows.begin,
                           a_.inputPositions + rows.begin, Lengths() + rows.begin,
                           static_cast<Slot*>(a_.slotMapping) + rows.begin, rows.end - rows.begin);
        });
    }

 private:
    using Length = typename Rows::LengthType;

    // From here on a launch's lines of the block table do not stay in the second cache.
    static constexpr int64_t kRowsBeyondCaches = 65536;
    static constexpr int64_t kMostPiece = 1024;

    // Calls visit(rows, slots): with the place where the slots of all rows are kept, or else with
    // one for a piece.
    template <typename Visit>
    void ForEach(const StepOfLaunch& step, Visit&& visit) {
        RowRange range = RowsOf(core_.index, t_.rowsPerCore, t_.numSeqs, core_.count);
        range.end = std::min(range.end, t_.numQueries);
        const int64_t kept = core_.keptBytes / kKeptBytesPerRow - step.index * t_.numSeqs;
        const int64_t middle = std::clamp(kept, range.begin, std::max(range.begin, range.end));
        if (range.begin < middle) {
            auto* const slots = reinterpret_cast<Slot*>(core_.kept) + step.index * t_.numSeqs;
            visit(RowRange{range.begin, middle}, slots + range.begin);
        }
        ForEachTile({middle, range.end}, std::min(t_.rowsPerTile * core_.count, kMostPiece),
                    [&](RowRange rows) { visit(rows, piece_); });
    }

    bool Place(const StepOfLaunch& step, RowRange rows, Slot* slots) {
        const TableRows table{Rows::BlocksOf(t_, a_, rows.begin), t_.blockTableStride, t_.math};
        return lanes_.place(table, Lengths() + rows.begin, step.added, slots,
                            rows.end - rows.begin);
    }

    Length* Lengths() const { return static_cast<Length*>(a_.seqLens); }

    const CoreContext& core_;
    const AdvanceStepTiling& t_;
    const AdvanceStepArgs& a_;
    const AdvanceStepLanes& lanes_;
    Slot piece_[kMostPiece];  // stands for a core's unified buffer
};

}  // namespace advstep
