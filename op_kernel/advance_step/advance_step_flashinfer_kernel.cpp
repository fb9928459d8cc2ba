#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

#include <numeric>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_rows.h"

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
void Count(const CoreContext& core, const void* payload) {
    const AdvanceStepFlashInferPayload& p = Payload(payload);
    int64_t sum = 0;
    ForEachRow(core, p.tiling.rows, [&](int64_t row) {
        if (row < p.tiling.rows.numQueries) {
            const int64_t position = Rows::PositionOf(p.args.common, row);
            const int64_t column = position / p.tiling.rows.blockSize;
            sum += position >= 0 && column < p.tiling.rows.maxBlocks ? column + 1 : 0;
        }
    });
    CorePages(p)[core.index] = sum;
}

// What a query's pages must hold besides the place of its token.
template <typename Rows>
void CheckPages(const CoreContext& core, const AdvanceStepFlashInferPayload& p, int64_t query,
                int64_t position, int64_t end) {
    const auto report = [&](AdvanceStepFault kind, std::initializer_list<int64_t> values) {
        core.Report(query, static_cast<int32_t>(kind), values);
    };
    const AdvanceStepTiling& t = p.tiling.rows;
    const auto* const blocks = Rows::BlocksOf(t, p.args.common, query);
    for (int64_t column = 0; column <= position / t.blockSize; ++column) {
        if (blocks[column] < 0 || !Fits<int32_t>(blocks[column])) {
            return report(AdvanceStepFault::kNoPage, {column, blocks[column]});
        }
    }
    if (!Fits<int32_t>(position % t.blockSize + 1)) {
        return report(AdvanceStepFault::kPageTooLong, {position % t.blockSize + 1});
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
    ForEachRow(core, p.tiling.rows, [&](int64_t row) {
        if (row >= p.tiling.rows.numQueries) {
            return;
        }
        TokenPlace place;
        place.position = Rows::PositionOf(p.args.common, row);
        const AdvanceStepFault fault = Rows::Place(p.tiling.rows, p.args.common, row, &place);
        if (fault != AdvanceStepFault::kNone) {
            return ReportPlace(core, row, fault, place);  // what comes behind it does not matter
        }
        end += place.column + 1;
        CheckPages<Rows>(core, p, row, place.position, end);
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
        if (row >= t.numQueries) {
            Rows::Blank(t, p.args.common, row);
        } else {
            const int64_t position = Rows::PositionOf(p.args.common, row);
            const int64_t pages = position / t.blockSize + 1;
            const auto* const blocks = Rows::BlocksOf(t, p.args.common, row);
            for (int64_t column = 0; column < pages; ++column) {
                p.args.pagedKvIndices[end + column] = static_cast<int32_t>(blocks[column]);
            }
            p.args.pagedKvLastPageLen[row] = static_cast<int32_t>(position % t.blockSize + 1);
            p.args.blockTableBound[row] = static_cast<int32_t>(pages);
            end += pages;
            Rows::Advance(t, p.args.common, row);
        }
        p.args.pagedKvIndptr[row + 1] = static_cast<int32_t>(end);
    });
}

}  // namespace

FlashInferKernels FlashInferKernelsFor(bool lengths32, bool slots32, bool tables32) {
    return WithStandardRows(lengths32, slots32, tables32, [](auto rows) {
        using Rows = decltype(rows);
        return FlashInferKernels{&Count<Rows>, &Check<Rows>, &Commit<Rows>};
    });
}

LaunchCounts CountFlashInfer(const void* payload) {
    return CountStandardRows(Payload(payload).tiling.rows);
}

}  // namespace advstep
