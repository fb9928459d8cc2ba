// SPDX-License-Identifier: Apache-2.0
// The kernels of AdvanceStepFlashInfer: count and check pages, then commit rows and page arrays.

#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

#include <limits>
#include <numeric>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_pieces.h"
#include "op_kernel/advance_step/advance_step_slots.h"

namespace advstep {
namespace {

const AdvanceStepFlashInferPayload& Payload(const void* payload) {
    return *static_cast<const AdvanceStepFlashInferPayload*>(payload);
}

int64_t* CorePages(const AdvanceStepFlashInferPayload& p) {
    return reinterpret_cast<int64_t*>(p.workspace);
}

/// Entries of pagedKvIndices before the first one of a core.
int64_t PagesBefore(const AdvanceStepFlashInferPayload& p, int32_t core) {
    const int64_t* const pages = CorePages(p);
    return std::accumulate(pages, pages + core, int64_t{0});
}

// A query that cannot advance counts as one without pages: the sums of later queries do not matter
// then. All sums together are at most numSeqs * maxBlocks, which 64 bits hold.
template <typename Rows>
void Count(const CoreContext& cores, const void* payload) {
    const AdvanceStepFlashInferPayload& p = Payload(payload);
    const AdvanceStepTiling& t = p.tiling.rows;
    for (CoreContext core = cores; core.index < cores.index + cores.count; ++core.index) {
        const RowRange rows = RowsOf(core.index, t.rowsPerCore, t.numQueries);
        int64_t sum = 0;
        for (int64_t query = rows.begin; query < rows.end; ++query) {
            const int64_t position = Rows::PositionOf(p.args.common, query);
            const bool inside = position >= 0 && position < t.math.positions;
            sum += inside ? ColumnOf(t.math, position) + 1 : 0;
        }
        CorePages(p)[core.index] = sum;
    }
}

template <typename Table>
bool AllPages(const Table* __restrict blocks, int64_t count) {
    constexpr uint64_t kLast = std::numeric_limits<int32_t>::max();
    uint64_t signs = 0;
    for (int64_t column = 0; column < count; ++column) {
        const auto block = static_cast<uint64_t>(static_cast<int64_t>(blocks[column]));
        signs |= block | (kLast - block);
    }
    return (signs >> 63) == 0;
}

template <typename Table>
void CopyPages(const Table* __restrict blocks, int32_t* __restrict pages, int64_t count) {
    for (int64_t column = 0; column < count; ++column) {
        pages[column] = static_cast<int32_t>(blocks[column]);
    }
}

// Checks the pages of a query whose token has a good place.
template <typename Rows>
void CheckPages(const CoreContext& core, const AdvanceStepFlashInferPayload& p, int64_t query,
                int64_t position, int64_t end) {
    const auto report = [&](AdvanceStepFault kind, std::initializer_list<int64_t> values) {
        core.Report(query, static_cast<int32_t>(kind), values);
    };
    const AdvanceStepTiling& t = p.tiling.rows;
    const auto* const blocks = Rows::BlocksOf(t, p.args.common, query);
    const int64_t last = ColumnOf(t.math, position);
    const int64_t tokens = position - last * t.blockSize + 1;  // in the last page
    for (int64_t column = AllPages(blocks, last + 1) ? last + 1 : 0; column <= last; ++column) {
        if (blocks[column] < 0 || !Fits<int32_t>(blocks[column])) {
            return report(AdvanceStepFault::kNoPage, {column, blocks[column]});
        }
    }
    if (!Fits<int32_t>(tokens)) {
        return report(AdvanceStepFault::kPageTooLong, {tokens});
    }
    if (!Fits<int32_t>(end)) {
        return report(AdvanceStepFault::kTooManyPages, {end});
    }
    if (end > p.tiling.capacity) {
        return report(AdvanceStepFault::kIndicesTooSmall, {end, p.tiling.capacity});
    }
}

template <typename Rows>
void Check(const CoreContext& core, const void* payload) {
    const AdvanceStepFlashInferPayload& p = Payload(payload);
    int64_t end = PagesBefore(p, core.index);
    Pieces<Rows>(core, p.tiling.rows, p.args.common).Check({}, [&](bool good, RowRange rows) {
        for (int64_t row = rows.begin; row < rows.end; ++row) {
            TokenPlace place;
            place.position = Rows::PositionOf(p.args.common, row);
            const AdvanceStepFault fault =
                good ? AdvanceStepFault::kNone
                     : Rows::Place(p.tiling.rows, p.args.common, row, &place);
            if (fault != AdvanceStepFault::kNone) {
                ReportPlace(core, row, fault, place);
                continue;  // the sums of later queries do not matter
            }
            end += ColumnOf(p.tiling.rows.math, place.position) + 1;
            CheckPages<Rows>(core, p, row, place.position, end);
        }
    });
}

template <typename Rows>
void Commit(const CoreContext& core, const void* payload) {
    const AdvanceStepFlashInferPayload& p = Payload(payload);
    const AdvanceStepTiling& t = p.tiling.rows;
    int64_t end = PagesBefore(p, core.index);
    if (core.index == 0) {
        p.args.pagedKvIndptr[0] = 0;
    }
    ForEachRow(core, t, [&](int64_t row) {
        if (row < t.numQueries) {
            const int64_t position = Rows::PositionOf(p.args.common, row);
            const int64_t column = ColumnOf(t.math, position);
            CopyPages(Rows::BlocksOf(t, p.args.common, row), p.args.pagedKvIndices + end,
                      column + 1);
            p.args.pagedKvLastPageLen[row] =
                static_cast<int32_t>(position - column * t.blockSize + 1);
            p.args.blockTableBound[row] = static_cast<int32_t>(column + 1);
            end += column + 1;
        }
        p.args.pagedKvIndptr[row + 1] = static_cast<int32_t>(end);
    });
    Pieces<Rows> pieces(core, t, p.args.common);
    pieces.Advance({});
    pieces.Blank();
}

template <typename Rows>
void LookAtSlots(const CoreContext& core, const void* payload) {
    const AdvanceStepFlashInferPayload& p = Payload(payload);
    CheckSlotsOf<Rows>(core, p.tiling.rows, p.args.common, 1);
}

}  // namespace

FlashInferKernels FlashInferKernelsFor(bool lengths32, bool slots32, bool tables32) {
    return WithStandardRows(lengths32, slots32, tables32, [](auto rows) {
        using Rows = decltype(rows);
        return FlashInferKernels{&Count<Rows>, &Check<Rows>, &Commit<Rows>, kKeptBytesPerRow,
                                 &LookAtSlots<Rows>};
    });
}

void CountFlashInfer(const void* payload, int64_t* numbers) {
    CountStandardRows(Payload(payload).tiling.rows, numbers);
}

}  // namespace advstep
