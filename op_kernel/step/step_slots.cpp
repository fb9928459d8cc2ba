// SPDX-License-Identifier: Apache-2.0
// The look of the sanitizer at the state that Step is given: no block is in two places. It comes
// before the checks, so the numbers may be any.

#include <algorithm>
#include <new>

#include "op_kernel/common/slot_check.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_view.h"

namespace advstep {
namespace {

// A place is an entry of the free list, or after those a cell of the table.
void LookAtDynamic(const CoreContext& core, const StepView& view, int64_t slot, int64_t freeEntries,
                   BlockPlaces* places) {
    const int64_t begin = view.a.encoderBlockLens[slot];
    const int64_t end = begin + view.a.usedListLen[slot];
    if (view.a.isBlockStep[slot] != 0 || begin < 0 || end > view.t.tableWidth) {
        return;
    }
    for (int64_t column = begin; column < end; ++column) {
        const int64_t block = view.Row(slot)[column];
        if (block < 0) {
            continue;
        }
        const int64_t cell = slot * view.t.tableWidth + column;
        const int64_t first = places->Add(block, freeEntries + cell);
        if (first < freeEntries) {
            ReportStep(core, slot, StepFault::kFreeBlockUsed, {block, column, first});
        } else if (first != freeEntries + cell) {
            ReportStep(core, slot, StepFault::kSharedBlock,
                       {block, column, (first - freeEntries) / view.t.tableWidth});
        }
    }
}

}  // namespace

void StepSlots(const CoreContext& core, const void* payload) try {
    if (core.index != 0) {
        return;
    }
    const StepView view(payload);
    const int64_t freeEntries = std::clamp<int64_t>(*view.a.freeListLen, 0, view.t.freeCapacity);
    int64_t blocks = freeEntries;
    for (int64_t slot = 0; slot < view.t.batch; ++slot) {
        blocks += std::clamp<int64_t>(view.a.usedListLen[slot], 0, view.t.tableWidth);
    }
    BlockPlaces places(blocks);
    for (int64_t entry = 0; entry < freeEntries; ++entry) {
        (void)places.Add(view.a.freeList[entry], entry);
    }
    for (int64_t slot = 0; slot < view.t.batch; ++slot) {
        LookAtDynamic(core, view, slot, freeEntries, &places);
    }
} catch (const std::bad_alloc&) {
}

}  // namespace advstep
