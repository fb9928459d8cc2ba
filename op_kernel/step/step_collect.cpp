// SPDX-License-Identifier: Apache-2.0
// The first phase of Step: each core checks its slots and counts releases and needs.

#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_lanes.h"
#include "op_kernel/step/step_scan.h"
#include "op_kernel/step/step_view.h"

namespace advstep {
namespace {

// The findings about up to 64 slots.
struct SlotSets {
    uint64_t releases = 0;
    uint64_t needs = 0;
    uint64_t served = 0;
    int64_t inUse = 0;
};

// Returns whether the dynamic columns lie in the row, and reports them if not.
bool CheckDynamicColumns(const CoreContext& core, const StepView& v, int64_t slot) {
    const int64_t used = v.a.usedListLen[slot];
    const int64_t first = v.a.encoderBlockLens[slot];
    if (used < 0) {
        ReportStep(core, slot, StepFault::kNegativeUsed, {used});
        return false;
    }
    if (used > 0 && v.a.isBlockStep[slot] == 0 && !LieInRow(first, used, v.t.tableWidth)) {
        ReportStep(core, slot, StepFault::kDynamicColumns, {first, used});
        return false;
    }
    return true;
}

// Returns whether a slot that feeds tokens lacks the block for the next one. Reports faults.
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

// Looks at one slot after the other, where ScanWord does not.
SlotSets LookAtSlots(const CoreContext& core, const StepView& v, RowRange slots) {
    SlotSets sets;
    for (int64_t slot = slots.begin; slot < slots.end; ++slot) {
        const bool stopped = v.a.stopFlags[slot] != 0;
        const bool preempted = v.a.isBlockStep[slot] != 0;
        if (!CheckDynamicColumns(core, v, slot)) {
            continue;
        }
        if (!preempted) {
            sets.inUse += v.a.usedListLen[slot];
        }
        if (stopped && !preempted) {
            sets.releases |= BitOf(slot);
        } else if (Needs(core, v, slot)) {
            // A stopped slot on the list counts as a need and is never served, as in the source.
            sets.needs |= BitOf(slot);
            sets.served |= stopped ? 0 : BitOf(slot);
        }
    }
    return sets;
}

// Looks at 64 slots at a time.
SlotSets LookAtWord(const CoreContext& core, const StepView& v, int64_t first) {
    SlotSets sets;
    uint64_t lacking = 0;
    if (!ScanWord(v.t, v.a, first, &lacking, &sets.inUse)) {
        return LookAtSlots(core, v, {first, first + kSlotsPerWord});
    }
    const uint64_t preempted = NonZeroBytes(v.a.isBlockStep + first);
    const uint64_t stopped = NonZeroBytes(v.a.stopFlags + first);
    sets.releases = stopped & ~preempted;
    sets.needs = lacking & ~sets.releases;
    sets.served = sets.needs & ~stopped;
    ForEachSlot(preempted, first, [&](int64_t slot) { sets.inUse -= v.a.usedListLen[slot]; });
    return sets;
}

// Looks at the first 64 of the slots, or fewer, of which one may be unusual.
void CollectWord(const CoreContext& core, const StepView& v, RowRange slots, const StepSets& all,
                 StepCoreCounts* counts) {
    const int64_t first = slots.begin;
    const SlotSets sets = first + kSlotsPerWord <= slots.end
                              ? LookAtWord(core, v, first)
                              : LookAtSlots(core, v, {first, slots.end});
    ForEachSlot(sets.releases, first, [&](int64_t slot) {
        counts->released += v.a.usedListLen[slot];
        counts->releasing += v.a.usedListLen[slot] > 0 ? 1 : 0;
    });
    counts->inUse += sets.inUse;
    const int64_t needs = CountBits(sets.needs);
    counts->needs += needs;
    counts->dispatched += sets.served == sets.needs ? needs : CountBits(sets.served);
    const int64_t word = first / kSlotsPerWord;
    all.releases[word] = sets.releases;
    all.needs[word] = sets.needs;
    all.served[word] = sets.served;
}

// Fetches what comes after the lengths. In a cold call each of these is a page of its own that the
// processor has to find, and otherwise one after the other.
void FetchAhead(const StepView& v) {
    for (const void* const first :
         {static_cast<const void*>(v.a.freeListLen), static_cast<const void*>(v.a.stepLens),
          static_cast<const void*>(v.a.needBlockLen), static_cast<const void*>(v.a.recoverLens),
          static_cast<const void*>(v.a.needBlockList), static_cast<const void*>(v.a.blockTables),
          static_cast<const void*>(v.a.seqLensThisTime), static_cast<const void*>(v.a.isBlockStep),
          static_cast<const void*>(v.a.stopFlags), static_cast<const void*>(v.a.freeList),
          static_cast<const void*>(v.payload.workspace)}) {
        __builtin_prefetch(first);
    }
    asm volatile("");
}

void CollectCore(const CoreContext& core, const StepView& v) {
    StepCoreCounts counts{};
    const StepSets sets{v.releases(), v.needs(), v.served()};
    const StepLanes* const lanes = StepLanesFor(core.isa, v.t);
    RowRange slots = v.SlotsOf(core.index);
    while (slots.begin < slots.end) {
        if (lanes != nullptr) {
            slots.begin = lanes->collect(v.t, v.a, slots.begin, slots.end, sets, &counts);
        }
        if (slots.begin < slots.end) {
            CollectWord(core, v, slots, sets, &counts);
            slots.begin += kSlotsPerWord;
        }
    }
    v.counts()[core.index] = counts;
}

}  // namespace

void StepCollect(const CoreContext& core, const void* payload) {
    const StepView v(payload);
    FetchAhead(v);
    for (CoreContext one = core; one.index < core.index + core.count; ++one.index) {
        CollectCore(one, v);
    }
}

}  // namespace advstep
