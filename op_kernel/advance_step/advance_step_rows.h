// SPDX-License-Identifier: Apache-2.0
// One row under each conformance, for AdvanceStep, AdvanceStepFlashInfer and every step of
// AdvanceStepMulti.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/advance_step/token_place.h"
#include "op_kernel/common/kernel.h"
#include "op_kernel/common/slot.h"

namespace advstep {

// The computation of the shipped kernel, row by row, for conformance exact and for the comparison
// with it.

/// The number that stands for the slot of a query that exact would not move.
constexpr int64_t kNoExactSlot = std::numeric_limits<int64_t>::min();

/// Only the first `exactCores` queries advance.
inline bool ExactAdvances(const AdvanceStepTiling& t, int64_t query) {
    return query < t.exactCores;
}

/// Only every exactCores-th padding row is blanked.
inline bool ExactBlanks(const AdvanceStepTiling& t, int64_t paddingRow) {
    return (paddingRow - t.numQueries) % t.exactCores == 0;
}

/// Sets the index of an entry of the table, which exact reads flat from the first row for every
/// query. Returns whether the table has such an entry.
inline bool ExactFlatIndexInside(const AdvanceStepTiling& t, int64_t position, int64_t* flat) {
    *flat = position / t.blockSize;
    return *flat >= 0 && *flat < t.numSeqs * t.maxBlocks;
}

template <typename Table>
int64_t ExactSlot(const AdvanceStepTiling& t, const Table* blockTables, int64_t query,
                  int64_t position, int64_t flat) {
    const auto entry = static_cast<int64_t>(
        blockTables[flat / t.maxBlocks * t.blockTableStride + flat % t.maxBlocks]);
    const auto block =
        static_cast<int64_t>(static_cast<uint64_t>(entry) +
                             static_cast<uint64_t>(t.maxBlocks) * static_cast<uint64_t>(query));
    return WrappingSlot(block, t.blockSize, position % t.blockSize);
}

constexpr int64_t kPaddingSlot = -1;

inline RowRange RowsOf(const CoreContext& core, const AdvanceStepTiling& t) {
    return RowsOf(core.index, t.rowsPerCore, t.numSeqs, core.count);
}

/// Calls visit(row) for the rows of the cores, tile by tile.
template <typename Visit>
void ForEachRow(const CoreContext& core, const AdvanceStepTiling& t, Visit&& visit) {
    ForEachTile(RowsOf(core, t), t.rowsPerTile, [&](RowRange tile) {
        for (int64_t row = tile.begin; row < tile.end; ++row) {
            visit(row);
        }
    });
}

/// Conformances standard and vllm, for tensors of these element types.
template <typename Length, typename Slot, typename Table>
struct StandardRows {
    using LengthType = Length;
    using SlotType = Slot;
    using TableType = Table;

    static int64_t PositionOf(const AdvanceStepArgs& a, int64_t row) {
        return static_cast<const Length*>(a.seqLens)[row];
    }

    static const Table* BlocksOf(const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                                 int64_t row) {
        return static_cast<const Table*>(a.blockTables) + row * t.blockTableStride;
    }

    /// Returns the first fault of a query whose token goes to place->position, or kNone.
    static AdvanceStepFault Place(const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                                  int64_t query, TokenPlace* place) {
        return PlaceToken<CheckedArithmetic<Length, Slot>>(BlocksOf(t, a, query), t.maxBlocks,
                                                           t.blockSize, place);
    }

    static void Blank(const AdvanceStepArgs& a, int64_t row) {
        a.inputTokens[row] = 0;
        a.inputPositions[row] = 0;
        static_cast<Slot*>(a.slotMapping)[row] = static_cast<Slot>(kPaddingSlot);
    }

    static bool HasBlankSlot(const AdvanceStepArgs& a, int64_t row) {
        return static_cast<const Slot*>(a.slotMapping)[row] == kPaddingSlot;
    }

    /// Returns whether exact would move a good query elsewhere, or not at all.
    static bool Diverges(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t query,
                         const TokenPlace& place, int64_t* exact) {
        *exact = kNoExactSlot;
        int64_t flat = 0;
        if (ExactAdvances(t, query) && ExactFlatIndexInside(t, place.position, &flat)) {
            *exact =
                ExactSlot(t, static_cast<const Table*>(a.blockTables), query, place.position, flat);
        }
        return place.slot != *exact;
    }
};

/// Conformance exact.
template <typename Table>
struct ExactRows {
    using SlotType = int64_t;

    static int64_t PositionOf(const AdvanceStepArgs& a, int64_t row) {
        return static_cast<const int64_t*>(a.seqLens)[row];
    }

    /// place->column is the flat index.
    static AdvanceStepFault Place(const AdvanceStepTiling& t, TokenPlace* place) {
        return ExactFlatIndexInside(t, place->position, &place->column)
                   ? AdvanceStepFault::kNone
                   : AdvanceStepFault::kFlatOutside;
    }

    /// Moves a query that has passed the check and does advance.
    static void Advance(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t query) {
        auto* const lengths = static_cast<int64_t*>(a.seqLens);
        const int64_t position = lengths[query];
        a.inputTokens[query] = a.sampledTokenIds[query];
        a.inputPositions[query] = position;
        lengths[query] = static_cast<int64_t>(static_cast<uint64_t>(position) + 1);
        static_cast<int64_t*>(a.slotMapping)[query] = ExactSlot(
            t, static_cast<const Table*>(a.blockTables), query, position, position / t.blockSize);
    }

    static void Blank(const AdvanceStepArgs& a, int64_t row) {
        StandardRows<int64_t, int64_t, Table>::Blank(a, row);
    }
};

/// Calls visit(query) for the queries of the cores that advance under conformance exact.
template <typename Visit>
void ForEachExactQuery(const CoreContext& core, const AdvanceStepTiling& t, Visit&& visit) {
    const RowRange rows = RowsOf(core, t);
    const int64_t end = std::min({rows.end, t.numQueries, int64_t{t.exactCores}});
    for (int64_t query = rows.begin; query < end; ++query) {
        visit(query);
    }
}

/// Calls visit(row) for the padding rows of the cores that are blanked under conformance exact.
template <typename Visit>
void ForEachExactBlank(const CoreContext& core, const AdvanceStepTiling& t, Visit&& visit) {
    const RowRange rows = RowsOf(core, t);
    const int64_t skipped =
        std::max<int64_t>(0, rows.begin - t.numQueries + t.exactCores - 1) / t.exactCores;
    for (int64_t row = t.numQueries + skipped * t.exactCores; row < rows.end; row += t.exactCores) {
        visit(row);
    }
}

/// Reports a row, as faultRow, if conformance exact would leave it with other values. Queries have
/// passed the check, and their token goes to `position`.
template <typename Rows>
void CompareRow(const CoreContext& core, const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                int64_t row, int64_t position, int64_t faultRow) {
    if (row < t.numQueries) {
        TokenPlace place;
        place.position = position;
        Rows::Place(t, a, row, &place);
        int64_t exact = 0;
        if (Rows::Diverges(t, a, row, place, &exact)) {
            core.Report(faultRow, static_cast<int32_t>(AdvanceStepFault::kDivergence),
                        {place.slot, exact});
        }
        return;
    }
    const bool blankAlready =
        a.inputTokens[row] == 0 && a.inputPositions[row] == 0 && Rows::HasBlankSlot(a, row);
    if (!ExactBlanks(t, row) && !blankAlready) {
        core.Report(faultRow, static_cast<int32_t>(AdvanceStepFault::kPaddingDivergence), {});
    }
}

/// Returns make(StandardRows of these types), which is how the kernels of a call are chosen.
template <typename Make>
auto WithStandardRows(bool lengths32, bool slots32, bool tables32, Make make) {
    const auto ofTable = [=](auto length, auto slot) {
        using Length = decltype(length);
        using Slot = decltype(slot);
        return tables32 ? make(StandardRows<Length, Slot, int32_t>{})
                        : make(StandardRows<Length, Slot, int64_t>{});
    };
    const auto ofSlot = [=](auto length) {
        return slots32 ? ofTable(length, int32_t{}) : ofTable(length, int64_t{});
    };
    return lengths32 ? ofSlot(int32_t{}) : ofSlot(int64_t{});
}

}  // namespace advstep
