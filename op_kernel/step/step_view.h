// SPDX-License-Identifier: Apache-2.0
// A core's view of a Step launch.

#pragma once

#include "op_kernel/common/kernel.h"
#include "op_kernel/step/step_rules.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

struct StepView {
    const StepPayload& payload;
    const StepTiling& t;
    const StepArgs& a;

    explicit StepView(const void* bytes) : StepView(*static_cast<const StepPayload*>(bytes)) {}

    explicit StepView(const StepPayload& p) : payload(p), t(p.tiling), a(p.args) {}

    /// Find the arrays in the workspace. Each is found when it is needed, because most phases need
    /// few of them.
    StepPlan& plan() const { return *At<StepPlan>(payload.offsets.plan); }
    StepCoreCounts* counts() const { return At<StepCoreCounts>(payload.offsets.counts); }
    uint64_t* releases() const { return At<uint64_t>(payload.offsets.releases); }
    uint64_t* needs() const { return At<uint64_t>(payload.offsets.needs); }
    uint64_t* served() const { return At<uint64_t>(payload.offsets.served); }
    uint64_t* waiting() const { return At<uint64_t>(payload.offsets.waiting); }
    int32_t* nextCandidate() const { return At<int32_t>(payload.offsets.nextCandidate); }
    int32_t* firstCandidate() const { return At<int32_t>(payload.offsets.firstCandidate); }
    StepVictim* victims() const { return At<StepVictim>(payload.offsets.victims); }
    StepRecovery* recoveries() const { return At<StepRecovery>(payload.offsets.recoveries); }

    int32_t* Row(int64_t slot) const { return a.blockTables + slot * t.tableWidth; }

    /// Returns the column of the block for the next token of the slot.
    int64_t NeededColumn(int64_t slot) const {
        const int64_t cached = a.seqLensDecoder[slot];
        return t.blockShift >= 0 ? cached >> t.blockShift : cached / t.blockSize;
    }

    RowRange SlotsOf(int32_t core) const { return RowsOf(core, t.slotsPerCore, t.batch); }

    /// Returns the slots of all cores that the context stands for.
    RowRange Slots(const CoreContext& core) const {
        return {SlotsOf(core.index).begin, SlotsOf(core.index + core.count - 1).end};
    }

    /// Returns the share of a list that these cores have.
    RowRange Share(const CoreContext& core, int64_t entries) const {
        if (core.count == t.coreCount) {
            return {0, entries};
        }
        const int64_t each = (entries + t.coreCount - 1) / t.coreCount;
        return {RowsOf(core.index, each, entries).begin,
                RowsOf(core.index + core.count - 1, each, entries).end};
    }

 private:
    template <typename T>
    T* At(int64_t offset) const {
        return reinterpret_cast<T*>(payload.workspace + offset);
    }
};

/// Reports a fault of a slot.
inline void ReportStep(const CoreContext& core, int64_t row, StepFault fault,
                       std::initializer_list<int64_t> values) {
    core.Report(row, static_cast<int32_t>(fault), values);
}

}  // namespace advstep
