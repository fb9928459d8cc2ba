#include "op_kernel/advance_step/advance_step_exact.h"
#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/common/row_range.h"

namespace advstep {
namespace {

template <typename Table>
struct Exact {
    static const AdvanceStepPayload& Payload(const void* payload) {
        return *static_cast<const AdvanceStepPayload*>(payload);
    }

    static RowRange Rows(const CoreContext& core, const AdvanceStepTiling& t) {
        return RowsOf(core.index, t.rowsPerCore, t.numSeqs);
    }

    static void Check(const CoreContext& core, const void* payload) {
        const AdvanceStepPayload& p = Payload(payload);
        const AdvanceStepTiling& t = p.tiling;
        const auto* const lengths = static_cast<const int64_t*>(p.args.seqLens);
        const RowRange rows = Rows(core, t);
        for (int64_t row = rows.begin; row < std::min(rows.end, t.numQueries); ++row) {
            int64_t flat = 0;
            if (ExactAdvances(t, row) && !ExactFlatIndexInside(t, lengths[row], &flat)) {
                core.Report(row, static_cast<int32_t>(AdvanceStepFault::kFlatOutside),
                            {lengths[row], flat});
            }
        }
    }

    static void Commit(const CoreContext& core, const void* payload) {
        const AdvanceStepPayload& p = Payload(payload);
        const AdvanceStepTiling& t = p.tiling;
        const RowRange rows = Rows(core, t);
        ForEachTile(rows, t.rowsPerTile, [&](RowRange tile) {
            for (int64_t row = tile.begin; row < tile.end; ++row) {
                if (row >= t.numQueries) {
                    Blank(p, row);
                } else if (ExactAdvances(t, row)) {
                    Advance(p, row);
                }
            }
        });
    }

    static void Blank(const AdvanceStepPayload& p, int64_t row) {
        if (ExactBlanks(p.tiling, row)) {
            p.args.inputTokens[row] = 0;
            p.args.inputPositions[row] = 0;
            static_cast<int64_t*>(p.args.slotMapping)[row] = -1;
        }
    }

    static void Advance(const AdvanceStepPayload& p, int64_t row) {
        auto* const lengths = static_cast<int64_t*>(p.args.seqLens);
        const int64_t position = lengths[row];
        p.args.inputTokens[row] = p.args.sampledTokenIds[row];
        p.args.inputPositions[row] = position;
        lengths[row] = static_cast<int64_t>(static_cast<uint64_t>(position) + 1);
        static_cast<int64_t*>(p.args.slotMapping)[row] =
            ExactSlot(p.tiling, static_cast<const Table*>(p.args.blockTables), row, position,
                      position / p.tiling.blockSize);
    }

    static constexpr AdvanceStepKernels All() { return {&Check, nullptr, &Commit}; }
};

}  // namespace

LaunchCounts CountExact(const void* payload) {
    const AdvanceStepTiling& t = static_cast<const AdvanceStepPayload*>(payload)->tiling;
    LaunchCounts counts;
    counts.advanced = std::min<int64_t>(t.numQueries, t.exactCores);
    counts.padded = (t.numSeqs - t.numQueries + t.exactCores - 1) / t.exactCores;
    return counts;
}

AdvanceStepKernels ExactKernels(bool tables32) {
    return tables32 ? Exact<int32_t>::All() : Exact<int64_t>::All();
}

}  // namespace advstep
