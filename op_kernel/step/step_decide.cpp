// SPDX-License-Identifier: Apache-2.0
// The second phase of Step: core 0 makes the decisions that depend on more than one slot. They need
// counts only, and no block ids.
#include <algorithm>

#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_victims.h"
#include "op_kernel/step/step_view.h"

namespace advstep {
namespace {

class Decision {
 public:
    Decision(const CoreContext& core, const StepView& view)
        : core_(core), v_(view), plan_(view.plan()) {}

    void Run() {
        plan_ = StepPlan{};
        if (!CheckScalars() || !CheckStack() || !SumUp() || !ChooseVictims()) {
            return;
        }
        PlaceCores();
        ChooseRecoveries();
    }

 private:
    bool Fail(int64_t row, StepFault fault, std::initializer_list<int64_t> values) {
        ReportStep(core_, row, fault, values);
        return false;
    }

    bool CheckScalars() {
        plan_.freeBefore = *v_.a.freeListLen;
        plan_.stackBefore = *v_.a.stepLens;
        if (!IsCount(plan_.freeBefore, v_.t.freeCapacity)) {
            return Fail(0, StepFault::kFreeListLen, {plan_.freeBefore});
        }
        if (!IsCount(plan_.stackBefore, v_.t.batch)) {
            return Fail(0, StepFault::kStepLens, {plan_.stackBefore});
        }
        if (*v_.a.needBlockLen != 0) {
            return Fail(0, StepFault::kNeedBlockLen, {*v_.a.needBlockLen});
        }
        if (*v_.a.recoverLens != 0) {
            return Fail(0, StepFault::kRecoverLens, {*v_.a.recoverLens});
        }
        return true;
    }

    bool CheckStack() {
        if (plan_.stackBefore > 0) {
            std::fill_n(v_.waiting(), WordsOf(v_.t.batch), uint64_t{0});
        }
        for (int64_t position = 0; position < plan_.stackBefore; ++position) {
            const int64_t slot = v_.a.stepBlockList[position];
            if (!IsSlot(slot, v_.t.batch)) {
                return Fail(position, StepFault::kStackEntryRange, {slot});
            }
            if (Contains(v_.waiting(), slot)) {
                return Fail(position, StepFault::kStackEntryTwice, {slot});
            }
            if (v_.a.isBlockStep[slot] == 0) {
                return Fail(position, StepFault::kStackEntryFlag, {slot});
            }
            v_.waiting()[slot / kSlotsPerWord] |= BitOf(slot);
        }
        return true;
    }

    bool SumUp() {
        int64_t inUse = 0;
        int64_t released = 0;
        for (int32_t core = 0; core < v_.t.coreCount; ++core) {
            const StepCoreCounts& counts = v_.counts()[core];
            inUse += counts.inUse;
            released += counts.released;
            plan_.needEntries += counts.needs;
            plan_.dispatched += counts.dispatched;
            plan_.releasing += counts.releasing;
        }
        if (plan_.freeBefore + inUse > v_.t.freeCapacity) {
            return Fail(0, StepFault::kFreeListOverflow, {plan_.freeBefore, inUse});
        }
        pool_ = plan_.freeBefore + inUse;
        plan_.freeAtDispatch = plan_.freeBefore + released;
        return true;
    }

    // Returns the number of blocks of a full row of inputIds.
    int64_t Longest() const { return v_.t.inputWidth / v_.t.blockSize; }

    bool ChooseVictims() {
        int64_t needed = plan_.needEntries;
        if (needed > plan_.freeAtDispatch) {
            VictimQueue queue(v_, Longest());
            while (needed > plan_.freeAtDispatch) {
                const int32_t victim = queue.Take();
                if (victim == VictimQueue::kNobody) {
                    return Fail(0, StepFault::kNoProgress, {needed, plan_.freeAtDispatch, pool_});
                }
                Preempt(victim, &needed);
            }
        }
        plan_.stackTop = plan_.stackBefore + plan_.victims;
        return true;
    }

    void Preempt(int32_t slot, int64_t* needed) {
        v_.victims()[plan_.victims++] = {slot, plan_.freeAtDispatch};
        plan_.freeAtDispatch += v_.a.usedListLen[slot];
        if (Contains(v_.needs(), slot)) {
            --*needed;
        }
        if (Contains(v_.served(), slot)) {
            v_.served()[slot / kSlotsPerWord] &= ~BitOf(slot);
            --v_.counts()[slot / v_.t.slotsPerCore].dispatched;
            --plan_.dispatched;
        }
    }

    // Turns the counts of each core into the places where its released blocks and served needs
    // begin.
    void PlaceCores() {
        int64_t freeAt = plan_.freeBefore;
        int64_t rank = 0;
        for (int32_t core = 0; core < v_.t.coreCount; ++core) {
            StepCoreCounts& counts = v_.counts()[core];
            const int64_t released = counts.released;
            const int64_t dispatched = counts.dispatched;
            counts.released = freeAt;
            counts.dispatched = rank;
            freeAt += released;
            rank += dispatched;
        }
    }

    int64_t SlotOnStack(int64_t position) const {
        return position < plan_.stackBefore ? v_.a.stepBlockList[position]
                                            : v_.victims()[position - plan_.stackBefore].slot;
    }

    void ChooseRecoveries() {
        int64_t budget = plan_.freeAtDispatch - plan_.dispatched;
        int64_t taken = plan_.dispatched;
        plan_.freeAfter = budget;
        if (plan_.stackTop == 0) {
            return;
        }
        const int64_t longest = Longest();
        const int64_t columns = longest + (v_.t.inputWidth % v_.t.blockSize != 0 ? 1 : 0);
        const int64_t topLimit = longest - v_.a.encoderBlockLens[SlotOnStack(plan_.stackTop - 1)];
        for (int64_t position = plan_.stackTop - 1; position >= 0; --position) {
            const int64_t slot = SlotOnStack(position);
            const int64_t used = v_.a.usedListLen[slot] + (Contains(v_.served(), slot) ? 1 : 0);
            const int64_t limit =
                v_.t.exact != 0 ? topLimit : std::max(used, columns - v_.a.encoderBlockLens[slot]);
            const int64_t grant = std::min(used + 1, limit);
            if (budget < grant) {
                break;
            }
            if (!CheckRecovery(slot, grant)) {
                return;
            }
            v_.recoveries()[plan_.recoveries++] = {static_cast<int32_t>(slot),
                                                   static_cast<int32_t>(grant), taken};
            budget -= grant;
            taken += grant;
        }
        plan_.freeAfter = budget;
    }

    bool CheckRecovery(int64_t slot, int64_t grant) {
        const int64_t first = v_.a.encoderBlockLens[slot];
        const int64_t prompt = v_.a.oriSeqLensEncoder[slot];
        const int64_t generated = v_.a.stepIdx[slot];
        if (grant < 0 || !LieInRow(first, grant, v_.t.tableWidth)) {
            return Fail(slot, StepFault::kGrantOutside, {first, grant});
        }
        if (prompt < 0) {
            return Fail(slot, StepFault::kRecoveredPrompt, {prompt});
        }
        if (!IsCount(generated, v_.t.preWidth)) {
            return Fail(slot, StepFault::kRecoveredStep, {generated});
        }
        if (prompt + generated < 1 || prompt + generated > v_.t.inputWidth) {
            return Fail(slot, StepFault::kRecoveredTotal, {prompt, generated});
        }
        return true;
    }

    const CoreContext& core_;
    const StepView& v_;
    StepPlan& plan_;
    int64_t pool_ = 0;
};

}  // namespace

void StepDecide(const CoreContext& core, const void* payload) {
    if (core.index == 0) {
        const StepView view(payload);
        Decision(core, view).Run();
    }
}

// With a free block for every slot and no preempted one, no slot is preempted and none is
// recovered. Then a step moves the ids of released blocks, which are not free before it, and one id
// for a slot.
bool IsBriefStep(const void* payload) {
    const StepView v(payload);
    if (v.t.movesLittle != 0) {
        return true;
    }
    const int64_t free = *v.a.freeListLen;
    return *v.a.stepLens == 0 && free >= v.t.batch &&
           v.t.freeCapacity - free <= kBriefBytes / int64_t{sizeof(int32_t)};
}

}  // namespace advstep
