#include "op_kernel/advance_step/advance_step_kernel.h"

#include <limits>

#include "op_kernel/advance_step/advance_step_exact.h"
#include "op_kernel/common/row_range.h"
#include "op_kernel/common/slot.h"

namespace advstep {
namespace {

constexpr int64_t kPaddingSlot = -1;
constexpr int64_t kNoSlot = std::numeric_limits<int64_t>::min();

template <typename Integer>
constexpr bool Fits(int64_t value) {
    return value >= std::numeric_limits<Integer>::min() &&
           value <= std::numeric_limits<Integer>::max();
}

// Calls visit(row) for the rows of a core, tile by tile.
template <typename Visit>
void ForEachRow(const CoreContext& core, const AdvanceStepTiling& t, Visit&& visit) {
    ForEachTile(RowsOf(core.index, t.rowsPerCore, t.numSeqs), t.rowsPerTile, [&](RowRange tile) {
        for (int64_t row = tile.begin; row < tile.end; ++row) {
            visit(row);
        }
    });
}

template <typename Length, typename Slot, typename Table>
struct Kernels {
    static const AdvanceStepPayload& Payload(const void* payload) {
        return *static_cast<const AdvanceStepPayload*>(payload);
    }

    static int64_t BlockOf(const AdvanceStepPayload& p, int64_t row, int64_t column) {
        return static_cast<const Table*>(
            p.args.blockTables)[row * p.tiling.blockTableStride + column];
    }

    static void CheckQuery(const CoreContext& core, const AdvanceStepPayload& p, int64_t row) {
        const auto report = [&](AdvanceStepFault kind, std::initializer_list<int64_t> values) {
            core.Report(row, static_cast<int32_t>(kind), values);
        };
        const AdvanceStepTiling& t = p.tiling;
        const int64_t position = static_cast<const Length*>(p.args.seqLens)[row];
        if (position < 0) {
            return report(AdvanceStepFault::kNegativePosition, {position});
        }
        const int64_t column = position / t.blockSize;
        if (column >= t.maxBlocks) {
            return report(AdvanceStepFault::kColumnOutside, {position, column});
        }
        const int64_t block = BlockOf(p, row, column);
        if (block < 0) {
            return report(AdvanceStepFault::kNegativeBlock, {position, column, block});
        }
        if (position == std::numeric_limits<Length>::max()) {
            return report(AdvanceStepFault::kLengthTooLarge, {position});
        }
        int64_t slot = 0;
        if (!SlotIn(block, t.blockSize, position % t.blockSize, &slot) || !Fits<Slot>(slot)) {
            return report(AdvanceStepFault::kSlotTooLarge, {position, column, block});
        }
    }

    static void Check(const CoreContext& core, const void* payload) {
        const AdvanceStepPayload& p = Payload(payload);
        ForEachRow(core, p.tiling, [&](int64_t row) {
            if (row < p.tiling.numQueries) {
                CheckQuery(core, p, row);
            }
        });
    }

    static void Commit(const CoreContext& core, const void* payload) {
        const AdvanceStepPayload& p = Payload(payload);
        const AdvanceStepTiling& t = p.tiling;
        const AdvanceStepArgs& a = p.args;
        auto* const lengths = static_cast<Length*>(a.seqLens);
        auto* const slots = static_cast<Slot*>(a.slotMapping);
        ForEachRow(core, t, [&](int64_t row) {
            if (row >= t.numQueries) {
                a.inputTokens[row] = 0;
                a.inputPositions[row] = 0;
                slots[row] = static_cast<Slot>(kPaddingSlot);
                return;
            }
            const int64_t position = lengths[row];  // the new token goes where the sequence ended
            const int64_t column = position / t.blockSize;
            a.inputTokens[row] = a.sampledTokenIds[row];
            a.inputPositions[row] = position;
            lengths[row] = static_cast<Length>(position + 1);
            slots[row] = static_cast<Slot>(BlockOf(p, row, column) * t.blockSize +
                                           (position - column * t.blockSize));
        });
    }

    // Rows have passed the check, so they advance here.
    static void CompareQuery(const CoreContext& core, const AdvanceStepPayload& p, int64_t row) {
        const AdvanceStepTiling& t = p.tiling;
        const int64_t position = static_cast<const Length*>(p.args.seqLens)[row];
        const int64_t column = position / t.blockSize;
        const int64_t slot = BlockOf(p, row, column) * t.blockSize + position % t.blockSize;
        int64_t exact = kNoSlot;
        int64_t flat = 0;
        // A query that exact leaves alone differs: at least its length grows here.
        if (ExactAdvances(t, row) && ExactFlatIndexInside(t, position, &flat)) {
            exact =
                ExactSlot(t, static_cast<const Table*>(p.args.blockTables), row, position, flat);
        }
        if (slot != exact) {
            core.Report(row, static_cast<int32_t>(AdvanceStepFault::kDivergence), {slot, exact});
        }
    }

    static void Compare(const CoreContext& core, const void* payload) {
        const AdvanceStepPayload& p = Payload(payload);
        const AdvanceStepTiling& t = p.tiling;
        const auto* const slots = static_cast<const Slot*>(p.args.slotMapping);
        ForEachRow(core, t, [&](int64_t row) {
            if (row < t.numQueries) {
                return CompareQuery(core, p, row);
            }
            const bool blankAlready = p.args.inputTokens[row] == 0 &&
                                      p.args.inputPositions[row] == 0 && slots[row] == kPaddingSlot;
            if (!ExactBlanks(t, row) && !blankAlready) {
                core.Report(row, static_cast<int32_t>(AdvanceStepFault::kPaddingDivergence), {});
            }
        });
    }

    static constexpr AdvanceStepKernels All() { return {&Check, &Compare, &Commit}; }
};

template <typename Length, typename Slot>
AdvanceStepKernels ForTable(bool tables32) {
    return tables32 ? Kernels<Length, Slot, int32_t>::All() : Kernels<Length, Slot, int64_t>::All();
}

template <typename Length>
AdvanceStepKernels ForSlot(bool slots32, bool tables32) {
    return slots32 ? ForTable<Length, int32_t>(tables32) : ForTable<Length, int64_t>(tables32);
}

}  // namespace

LaunchCounts CountStandard(const void* payload) {
    const AdvanceStepTiling& t = static_cast<const AdvanceStepPayload*>(payload)->tiling;
    LaunchCounts counts;
    counts.advanced = t.numQueries;
    counts.padded = t.numSeqs - t.numQueries;
    return counts;
}

AdvanceStepKernels StandardKernels(bool lengths32, bool slots32, bool tables32) {
    return lengths32 ? ForSlot<int32_t>(slots32, tables32) : ForSlot<int64_t>(slots32, tables32);
}

}  // namespace advstep
