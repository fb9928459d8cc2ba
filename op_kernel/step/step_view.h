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
    uint8_t* slotState;
    int32_t* candidates;
    int32_t* ranks;
    StepVictim* victims;
    StepRecovery* recoveries;
};

struct StepView {
    const StepTiling& t;
    const StepArgs& a;
    StepArrays w;

    explicit StepView(const void* payload) : StepView(*static_cast<const StepPayload*>(payload)) {}

    explicit StepView(const StepPayload& p)
        : t(p.tiling),
          a(p.args),
          w{reinterpret_cast<StepPlan*>(p.workspace + p.offsets.plan),
            reinterpret_cast<StepCoreCounts*>(p.workspace + p.offsets.counts),
            p.workspace + p.offsets.slotState,
            reinterpret_cast<int32_t*>(p.workspace + p.offsets.candidates),
            reinterpret_cast<int32_t*>(p.workspace + p.offsets.ranks),
            reinterpret_cast<StepVictim*>(p.workspace + p.offsets.victims),
            reinterpret_cast<StepRecovery*>(p.workspace + p.offsets.recoveries)} {}

    int32_t* Row(int64_t slot) const { return a.blockTables + slot * t.tableWidth; }

    RowRange Slots(const CoreContext& core) const {
        return RowsOf(core.index, t.slotsPerCore, t.batch);
    }

    /// A core's share of a list.
    RowRange Share(const CoreContext& core, int64_t entries) const {
        const int64_t each = (entries + t.coreCount - 1) / t.coreCount;
        return RowsOf(core.index, each, entries);
    }

    /// Column of the block that the slot's next token goes to.
    int64_t NeededColumn(int64_t slot) const { return a.seqLensDecoder[slot] / t.blockSize; }
};

/// Reports a fault of a slot.
inline void ReportStep(const CoreContext& core, int64_t row, StepFault fault,
                       std::initializer_list<int64_t> values) {
    core.Report(row, static_cast<int32_t>(fault), values);
}

}  // namespace advstep
