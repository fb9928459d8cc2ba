// SPDX-License-Identifier: Apache-2.0
// The look of the sanitizer at the slots that AdvanceStep, AdvanceStepFlashInfer or
// AdvanceStepMulti has written.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_rows.h"
#include "op_kernel/common/slot_check.h"

namespace advstep {

inline constexpr SlotFaults kAdvanceStepSlotFaults = {
    static_cast<int32_t>(AdvanceStepFault::kSameSlot),
    static_cast<int32_t>(AdvanceStepFault::kSharedBlock)};

/// Looks at `steps` rows of slotMapping, of which the last one has the positions that the tensor
/// has now. Core 0 does it for all cores.
template <typename Rows>
void CheckSlotsOf(const CoreContext& core, const AdvanceStepTiling& t, const AdvanceStepArgs& a,
                  int64_t steps) {
    if (core.index != 0) {
        return;
    }
    const auto* const slots = static_cast<const typename Rows::SlotType*>(a.slotMapping);
    const BlockRows<typename Rows::TableType> table{
        static_cast<const typename Rows::TableType*>(a.blockTables), t.blockTableStride,
        t.numQueries, t.blockSize};
    CheckSlots(
        core, table, steps * t.numQueries, kAdvanceStepSlotFaults,
        [&](int64_t i) { return i % t.numQueries; },
        [&](int64_t i) { return int64_t{slots[i / t.numQueries * t.numSeqs + i % t.numQueries]}; },
        [&](int64_t row) { return (a.inputPositions[row] - (steps - 1)) / t.blockSize; });
}

}  // namespace advstep
