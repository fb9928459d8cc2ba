// SPDX-License-Identifier: Apache-2.0
// The last three phases of Step: blocks are given back, handed out and recovered.

#include <algorithm>
#include <cstring>

#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_view.h"

namespace advstep {
namespace {

// Moves the dynamic columns of a slot to freeList from `freeAt` on, in column order.
void PushColumns(const StepView& v, int64_t slot, int64_t freeAt) {
    const int64_t used = v.a.usedListLen[slot];
    int32_t* const columns = v.Row(slot) + v.a.encoderBlockLens[slot];
    std::copy_n(columns, used, v.a.freeList + freeAt);
    std::fill_n(columns, used, -1);
}

void Release(const StepView& v, int64_t slot, int64_t freeAt) {
    v.a.firstTokenIds[slot] = -1;
    if (v.a.usedListLen[slot] > 0) {
        PushColumns(v, slot, freeAt);
        v.a.encoderBlockLens[slot] = 0;
        v.a.usedListLen[slot] = 0;
    }
}

void Preempt(const StepView& v, const StepVictim& victim, int64_t stackAt) {
    const int64_t slot = victim.slot;
    PushColumns(v, slot, victim.freeAt);
    v.a.stepBlockList[stackAt] = victim.slot;
    v.a.stopFlags[slot] = 1;
    v.a.isBlockStep[slot] = 1;
    v.a.seqLensThisTime[slot] = 0;
    v.a.seqLensDecoder[slot] = 0;
}

void Recover(const StepView& v, const StepRecovery& recovery) {
    const int64_t slot = recovery.slot;
    const int64_t prompt = v.a.oriSeqLensEncoder[slot];
    const int64_t generated = v.a.stepIdx[slot];
    const int64_t total = prompt + generated;
    int64_t* const input = v.a.inputIds + slot * v.t.inputWidth;
    const int64_t* const generatedIds = v.a.preIds + slot * v.t.preWidth;
    v.a.isBlockStep[slot] = 0;
    v.a.stopFlags[slot] = 0;
    v.a.usedListLen[slot] = recovery.grant;
    v.a.seqLensThisTime[slot] = v.a.seqLensEncoder[slot] = static_cast<int32_t>(total);
    input[total - 1] = v.a.nextTokens[slot];
    input[0] = v.a.firstTokenIds[slot];
    const int32_t* const top = v.a.freeList + v.plan().freeAtDispatch - recovery.takenBefore;
    std::reverse_copy(top - recovery.grant, top, v.Row(slot) + v.a.encoderBlockLens[slot]);
    if (generated > 1) {
        std::copy_n(generatedIds + 1, generated - 1, input + prompt);
    }
}

void SetScalars(const StepView& v) {
    const StepPlan& plan = v.plan();
    *v.a.freeListLen = static_cast<int32_t>(plan.freeAfter);
    *v.a.stepLens = static_cast<int32_t>(plan.stackTop - plan.recoveries);
    *v.a.needBlockLen = 0;
    *v.a.recoverLens = 0;
}

// Returns whether slots wait for recovery and no slot generates, so that all later steps leave the
// state as it is unless the host changes it.
bool IsStalled(const StepView& v) {
    const StepPlan& plan = v.plan();
    return plan.stackTop > plan.recoveries &&
           std::memchr(v.a.stopFlags, 0, static_cast<size_t>(v.t.batch)) == nullptr;
}

}  // namespace

void StepGiveBack(const CoreContext& core, const void* payload) {
    const StepView v(payload);
    const RowRange slots = v.Slots(core);
    int64_t freeAt = v.counts()[core.index].released;
    for (int64_t first = slots.begin; first < slots.end; first += kSlotsPerWord) {
        ForEachSlot(v.releases()[first / kSlotsPerWord], first, [&](int64_t slot) {
            const int64_t used = v.a.usedListLen[slot];
            Release(v, slot, freeAt);
            freeAt += used;
        });
    }
    const StepPlan& plan = v.plan();
    const RowRange victims = v.Share(core, plan.victims);
    for (int64_t index = victims.begin; index < victims.end; ++index) {
        Preempt(v, v.victims()[index], plan.stackBefore + index);
    }
    const RowRange entries = v.Share(core, plan.needEntries);
    std::fill(v.a.needBlockList + entries.begin, v.a.needBlockList + entries.end, -1);
}

void StepHandOut(const CoreContext& core, const void* payload) {
    const StepView v(payload);
    const RowRange slots = v.Slots(core);
    const int32_t* top = v.a.freeList + v.plan().freeAtDispatch - v.counts()[core.index].dispatched;
    for (int64_t first = slots.begin; first < slots.end; first += kSlotsPerWord) {
        ForEachSlot(v.served()[first / kSlotsPerWord], first, [&](int64_t slot) {
            v.Row(slot)[v.NeededColumn(slot)] = *--top;
            // A preempted slot that is not stopped may have any number here, which wraps.
            int32_t& used = v.a.usedListLen[slot];
            used = static_cast<int32_t>(static_cast<uint32_t>(used) + 1);
        });
    }
}

void StepRecover(const CoreContext& core, const void* payload) {
    const StepView v(payload);
    const StepPlan& plan = v.plan();
    const RowRange recoveries = v.Share(core, plan.recoveries);
    for (int64_t index = recoveries.begin; index < recoveries.end; ++index) {
        Recover(v, v.recoveries()[index]);
        v.a.recoverBlockList[index] = v.recoveries()[index].slot;
        v.a.stepBlockList[plan.stackTop - 1 - index] = -1;
    }
    if (core.index == 0) {
        SetScalars(v);
    }
}

void StepOnOneCore(const CoreContext& core, const void* payload) {
    for (const KernelFn phase :
         {&StepCollect, &StepDecide, &StepGiveBack, &StepHandOut, &StepRecover}) {
        if (core.fault->found()) {
            return;
        }
        phase(core, payload);
    }
}

void CountStep(const void* payload, int64_t* numbers) {
    const StepView v(payload);
    if (v.t.batch == 0) {
        return;
    }
    const StepPlan& plan = v.plan();
    numbers[StepCounter::kReleased] = plan.releasing;
    numbers[StepCounter::kNeeded] = plan.needEntries;
    numbers[StepCounter::kPreempted] = plan.victims;
    numbers[StepCounter::kDispatched] = plan.dispatched;
    numbers[StepCounter::kRecovered] = plan.recoveries;
    numbers[StepCounter::kStalled] = IsStalled(v) ? 1 : 0;
}

}  // namespace advstep
