// SPDX-License-Identifier: Apache-2.0
// The kernels of AdvanceStepV2: check, compare and commit, row by row.

#include "op_kernel/advance_step/advance_step_v2_kernel.h"

#include <algorithm>

#include "op_kernel/advance_step/advance_step_slots.h"
#include "op_kernel/advance_step/advance_step_v2_queries.h"
#include "op_kernel/advance_step/token_place.h"
#include "op_kernel/common/kernel.h"

namespace advstep {
namespace {

int64_t WrapTo32(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

/// Conformances standard and vllm.
struct WideArithmetic : CheckedArithmetic<int64_t, int64_t> {
    static int64_t BlockSizeOf(int64_t blockSize) { return blockSize; }
    static bool PositionAfter(int64_t before, int64_t accepted, int64_t* position) {
        return !__builtin_add_overflow(before, accepted, position) &&
               !__builtin_add_overflow(*position, int64_t{1}, position);
    }
};

/// Conformance exact: intermediate values have 32 bits, and are checked after they have wrapped.
struct NarrowArithmetic {
    static constexpr AdvanceStepFault kBadLength = AdvanceStepFault::kLengthWraps;
    static constexpr AdvanceStepFault kBadSlot = AdvanceStepFault::kSlotWraps;

    static bool PositionAfter(int64_t before, int64_t accepted, int64_t* position) {
        *position = WrapTo32(static_cast<uint64_t>(before) + static_cast<uint64_t>(accepted) + 1);
        return true;
    }
    static int64_t BlockSizeOf(int64_t blockSize) {
        return WrapTo32(static_cast<uint64_t>(blockSize));
    }
    static int64_t BlockOf(int64_t entry) { return WrapTo32(static_cast<uint64_t>(entry)); }
    static bool LengthAfter(int64_t position, int64_t* length) {
        *length = WrapTo32(static_cast<uint64_t>(position) + 1);
        return *length >= 0;
    }
    static bool SlotOf(int64_t block, int64_t blockSize, int64_t offset, int64_t* slot) {
        *slot = WrapTo32(static_cast<uint64_t>(WrappingSlot(block, blockSize, offset)));
        return *slot >= 0;
    }
};

/// A row, its query, and its place in the query.
struct V2Row {
    int64_t row;
    int64_t query;
    int64_t index;  // 0: the last sampled token; j: spec token j - 1
};

const AdvanceStepV2Payload& Payload(const void* payload) {
    return *static_cast<const AdvanceStepV2Payload*>(payload);
}

// Calls visit(V2Row) for the rows of a core, tile by tile.
template <typename Visit>
void ForEachV2Row(const CoreContext& core, const AdvanceStepV2Tiling& t, Visit&& visit) {
    ForEachTile(RowsOf(core.index, t.rowsPerCore, t.rows, core.count), t.rowsPerTile,
                [&](RowRange tile) {
                    V2Row at{tile.begin, tile.begin / t.rowsPerQuery, tile.begin % t.rowsPerQuery};
                    for (; at.row < tile.end; ++at.row) {
                        visit(at);
                        if (++at.index == t.rowsPerQuery) {
                            at.index = 0;
                            ++at.query;
                        }
                    }
                });
}

/// Sets the place of a row's token. Returns its first fault, or kNone.
template <typename Arithmetic, typename Table>
AdvanceStepFault Place(const AdvanceStepV2Payload& p, const V2Row& at, TokenPlace* place) {
    const AdvanceStepV2Tiling& t = p.tiling;
    if (!Arithmetic::PositionAfter(p.args.common.inputPositions[at.row],
                                   p.args.acceptedNum[at.query], &place->position)) {
        return AdvanceStepFault::kPositionTooLarge;
    }
    const Table* const blocks =
        static_cast<const Table*>(p.args.common.blockTables) + at.query * t.blockTableStride;
    return PlaceToken<Arithmetic>(blocks, t.maxBlocks, Arithmetic::BlockSizeOf(t.blockSize), place);
}

// Returns the sampled token before the first negative one. The first token is not negative.
int64_t LastSampled(const AdvanceStepV2Payload& p, int64_t query) {
    const int64_t* const sampled = p.args.common.sampledTokenIds + query * p.tiling.rowsPerQuery;
    const int64_t* const end = std::find_if(sampled + 1, sampled + p.tiling.rowsPerQuery,
                                            [](int64_t token) { return token < 0; });
    return *(end - 1);
}

template <typename Arithmetic, typename Table>
void CheckRow(const CoreContext& core, const AdvanceStepV2Payload& p, const V2Row& at) {
    const int64_t first = p.args.common.sampledTokenIds[at.query * p.tiling.rowsPerQuery];
    if (at.index == 0 && first < 0) {
        core.Report(at.row, static_cast<int32_t>(AdvanceStepFault::kNothingAccepted), {first});
        return;
    }
    TokenPlace place;
    const AdvanceStepFault fault = Place<Arithmetic, Table>(p, at, &place);
    if (fault == AdvanceStepFault::kPositionTooLarge) {
        core.Report(at.row, static_cast<int32_t>(fault),
                    {p.args.common.inputPositions[at.row], p.args.acceptedNum[at.query]});
        return;
    }
    ReportPlace(core, at.row, fault, place);
}

// The code for all rows of a query only finds out that one may be bad. The code for one row says
// which, and why.
template <typename Table>
void CheckQueries(const CoreContext& core, const AdvanceStepV2Payload& p,
                  const V2Queries<Table>& queries) {
    queries.CheckAll([&](const QueryRows& at) {
        for (int64_t row = at.rows.begin; row < at.rows.end; ++row) {
            CheckRow<WideArithmetic, Table>(core, p,
                                            {row, at.query, at.index + row - at.rows.begin});
        }
    });
}

template <typename Table>
void CheckWide(const CoreContext& core, const void* payload) {
    const AdvanceStepV2Payload& p = Payload(payload);
    CheckQueries(core, p, V2Queries<Table>(core, p));
}

template <typename Table>
void CommitWide(const CoreContext& core, const void* payload) {
    V2Queries<Table>(core, Payload(payload)).AdvanceAll();
}

template <typename Table>
void CheckAndCommitWide(const CoreContext& core, const void* payload) {
    const AdvanceStepV2Payload& p = Payload(payload);
    const V2Queries<Table> queries(core, p);
    CheckQueries(core, p, queries);
    if (!core.fault->found()) {
        queries.AdvanceAll();
    }
}

template <typename Table>
void CheckNarrow(const CoreContext& core, const void* payload) {
    const AdvanceStepV2Payload& p = Payload(payload);
    ForEachV2Row(core, p.tiling,
                 [&](const V2Row& at) { CheckRow<NarrowArithmetic, Table>(core, p, at); });
}

// Rows have passed the check.
template <typename Table>
void Compare(const CoreContext& core, const void* payload) {
    constexpr int64_t kRefused = std::numeric_limits<int64_t>::min();
    const AdvanceStepV2Payload& p = Payload(payload);
    ForEachV2Row(core, p.tiling, [&](const V2Row& at) {
        TokenPlace here;
        TokenPlace exact;
        Place<WideArithmetic, Table>(p, at, &here);
        // A device would refuse a block size that is not positive in its 32 bits.
        if (NarrowArithmetic::BlockSizeOf(p.tiling.blockSize) < 1 ||
            Place<NarrowArithmetic, Table>(p, at, &exact) != AdvanceStepFault::kNone) {
            exact.slot = kRefused;
        }
        if (exact.slot != here.slot || exact.position != here.position) {
            core.Report(at.row, static_cast<int32_t>(AdvanceStepFault::kPlaceDivergence),
                        {here.position, here.slot, exact.position, exact.slot});
        }
    });
}

template <typename Table>
void CommitNarrow(const CoreContext& core, const void* payload) {
    const AdvanceStepV2Payload& p = Payload(payload);
    const AdvanceStepArgs& a = p.args.common;
    auto* const lengths = static_cast<int64_t*>(a.seqLens);
    auto* const slots = static_cast<int64_t*>(a.slotMapping);
    const int64_t specTokens = p.tiling.rowsPerQuery - 1;
    ForEachV2Row(core, p.tiling, [&](const V2Row& at) {
        TokenPlace place;
        Place<NarrowArithmetic, Table>(p, at, &place);
        a.inputTokens[at.row] = at.index == 0
                                    ? LastSampled(p, at.query)
                                    : p.args.specToken[at.query * specTokens + at.index - 1];
        a.inputPositions[at.row] = place.position;
        lengths[at.row] = place.length;
        slots[at.row] = place.slot;
    });
}

// The rows of a query write one after another.
template <typename Table>
void LookAtSlots(const CoreContext& core, const void* payload) {
    if (core.index != 0) {
        return;
    }
    const AdvanceStepV2Payload& p = Payload(payload);
    const AdvanceStepV2Tiling& t = p.tiling;
    const AdvanceStepArgs& a = p.args.common;
    const auto* const slots = static_cast<const int64_t*>(a.slotMapping);
    const BlockRows<Table> table{static_cast<const Table*>(a.blockTables), t.blockTableStride,
                                 t.rows / t.rowsPerQuery, t.blockSize};
    CheckSlots(
        core, table, t.rows, kAdvanceStepSlotFaults, [&](int64_t i) { return i / t.rowsPerQuery; },
        [&](int64_t i) { return slots[i]; },
        [&](int64_t query) {
            const int64_t* const positions = a.inputPositions + query * t.rowsPerQuery;
            return *std::min_element(positions, positions + t.rowsPerQuery) / t.blockSize;
        });
}

template <typename Table>
AdvanceStepKernels Wide(int32_t keptBytesPerRow) {
    return {&CheckWide<Table>,          &Compare<Table>, &CommitWide<Table>,
            &CheckAndCommitWide<Table>, keptBytesPerRow, &LookAtSlots<Table>};
}

template <typename Table>
AdvanceStepKernels Narrow() {
    return {&CheckNarrow<Table>, nullptr, &CommitNarrow<Table>};
}

}  // namespace

AdvanceStepKernels V2Kernels(bool tables32, int64_t rowsPerQuery) {
    static_assert(AdvanceStepV2Lanes::kKeptValues <= kV2MostRowsApart, "one value a row is enough");
    constexpr int64_t kBytes = AdvanceStepV2Lanes::kKeptValues * int64_t{sizeof(int64_t)};
    const int64_t rows = std::min(rowsPerQuery, kV2MostRowsApart);
    const auto kept = static_cast<int32_t>((kBytes + rows - 1) / rows);
    return tables32 ? Wide<int32_t>(kept) : Wide<int64_t>(kept);
}

AdvanceStepKernels V2ExactKernels(bool tables32) {
    return tables32 ? Narrow<int32_t>() : Narrow<int64_t>();
}

void CountV2(const void* payload, int64_t* numbers) {
    const AdvanceStepV2Tiling& t = Payload(payload).tiling;
    numbers[AdvanceStepCounter::kAdvanced] = t.rows / t.rowsPerQuery;
}

}  // namespace advstep
