// A core's view of a Step launch: the payload with its workspace resolved.
#pragma once

#include "op_kernel/common/kernel.h"
#include "op_kernel/common/row_range.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// The arrays in the workspace.
struct StepArrays {
    StepPlan* plan;
    StepCoreCounts* counts;
    uint64_t* releases;
    uint64_t* needs;
    uint64_t* served;
    uint64_t* waiting;
    int32_t* nextCandidate;
    int32_t* firstCandidate;
    StepVictim* victims;
    StepRecovery* recoveries;
};

struct StepView {
    const StepTiling& t;
    const StepArgs& a;
    StepArrays w;

    explicit StepView(const void* payload) : StepView(*static_cast<const StepPayload*>(payload)) {}

    explicit StepView(const StepPayload& p)
        : t(p.tiling), a(p.args), w{At<StepPlan>(p, p.offsets.plan),
                                    At<StepCoreCounts>(p, p.offsets.counts),
                                    At<uint64_t>(p, p.offsets.releases),
                                    At<uint64_t>(p, p.offsets.needs),
                                    At<uint64_t>(p, p.offsets.served),
                                    At<uint64_t>(p, p.offsets.waiting),
                                    At<int32_t>(p, p.offsets.nextCandidate),
                                    At<int32_t>(p, p.offsets.firstCandidate),
                                    At<StepVictim>(p, p.offsets.victims),
                                    At<StepRecovery>(p, p.offsets.recoveries)} {}

    int32_t* Row(int64_t slot) const { return a.blockTables + slot * t.tableWidth; }

    /// Column of the block that the slot's next token goes to.
    int64_t NeededColumn(int64_t slot) const {
        const int64_t cached = a.seqLensDecoder[slot];
        return t.blockShift >= 0 ? cached >> t.blockShift : cached / t.blockSize;
    }

    RowRange SlotsOf(int32_t core) const { return RowsOf(core, t.slotsPerCore, t.batch); }

    /// Of all the cores that the context stands for.
    RowRange Slots(const CoreContext& core) const {
        return {SlotsOf(core.index).begin, SlotsOf(core.index + core.count - 1).end};
    }

    /// Their share of a list.
    RowRange Share(const CoreContext& core, int64_t entries) const {
        const int64_t each = (entries + t.coreCount - 1) / t.coreCount;
        return {RowsOf(core.index, each, entries).begin,
                RowsOf(core.index + core.count - 1, each, entries).end};
    }

 private:
    template <typename T>
    static T* At(const StepPayload& payload, int64_t offset) {
        return reinterpret_cast<T*>(payload.workspace + offset);
    }
};

/// Reports a fault of a slot.
inline void ReportStep(const CoreContext& core, int64_t row, StepFault fault,
                       std::initializer_list<int64_t> values) {
    core.Report(row, static_cast<int32_t>(fault), values);
}

}  // namespace advstep
