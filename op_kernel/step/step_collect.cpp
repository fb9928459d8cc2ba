#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_view.h"

namespace advstep {
namespace {

// Dynamic columns must lie in the row; true if they do.
bool CheckDynamicColumns(const CoreContext& core, const StepView& v, int64_t slot) {
    const int64_t used = v.a.usedListLen[slot];
    const int64_t first = v.a.encoderBlockLens[slot];
    if (used < 0) {
        ReportStep(core, slot, StepFault::kNegativeUsed, {used});
        return false;
    }
    if (used > 0 && v.a.isBlockStep[slot] == 0 && (first < 0 || first + used > v.t.tableWidth)) {
        ReportStep(core, slot, StepFault::kDynamicColumns, {first, used});
        return false;
    }
    return true;
}

// Whether a slot that feeds tokens lacks the block for the next one; faults are reported.
bool Needs(const CoreContext& core, const StepView& v, int64_t slot) {
    if (v.a.seqLensThisTime[slot] == 0) {
        return false;
    }
    const int64_t cached = v.a.seqLensDecoder[slot];
    if (cached < 0) {
        ReportStep(core, slot, StepFault::kNegativeDecoder, {cached});
        return false;
    }
    const int64_t column = v.NeededColumn(slot);
    if (column >= v.t.tableWidth) {
        ReportStep(core, slot, StepFault::kNeededColumn, {cached, column});
        return false;
    }
    return v.Row(slot)[column] == -1;
}

}  // namespace

void StepCollect(const CoreContext& core, const void* payload) {
    const StepView v(payload);
    StepCoreCounts counts{};
    const RowRange slots = v.Slots(core);
    for (int64_t slot = slots.begin; slot < slots.end; ++slot) {
        uint8_t state = 0;
        const bool stopped = v.a.stopFlags[slot] != 0;
        const bool preempted = v.a.isBlockStep[slot] != 0;
        if (!CheckDynamicColumns(core, v, slot)) {
            continue;
        }
        if (!preempted) {
            counts.inUse += v.a.usedListLen[slot];
        }
        if (stopped && !preempted) {
            state = kReleases;
            counts.released += v.a.usedListLen[slot];
            counts.releasing += v.a.usedListLen[slot] > 0 ? 1 : 0;
        } else if (Needs(core, v, slot)) {
            // A stopped slot on the list counts as a need and is never served, as in the source.
            state = stopped ? kNeeds : kNeeds | kGetsBlock;
            ++counts.needs;
            counts.dispatched += stopped ? 0 : 1;
        }
        v.w.slotState[slot] = state;
    }
    v.w.counts[core.index] = counts;
}

}  // namespace advstep
