// SPDX-License-Identifier: Apache-2.0
// The rules that Step's tensors obey, each worded once. The kernel reports the rule that is broken;
// the host side and the checker of advance_step/kv_invariants.h take the words from here.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// A broken rule: the kind of a Fault.
enum class StepFault : int32_t {
    kFreeListLen,
    kStepLens,
    kNeedBlockLen,
    kRecoverLens,
    kStackEntryRange,
    kStackEntryTwice,
    kStackEntryFlag,
    kNegativeUsed,
    kDynamicColumns,
    kNegativeDecoder,
    kNeededColumn,
    kFreeListOverflow,
    kNoProgress,
    kGrantOutside,
    kRecoveredPrompt,
    kRecoveredStep,
    kRecoveredTotal,
    // of the sanitizer
    kFreeBlockUsed,
    kSharedBlock,
};

/// A rule and its words, a format of {fmt}. {row} is the row of the Fault: a slot, or a position of
/// the stack. {0}, {1} and {2} are its values. {B}, {W}, {F}, {L} and {P} are dims with their
/// names, "B = 9"; {columns} is the number W, {blockSize} that of the call.
struct StepRule {
    StepFault fault;
    const char* words;
};

inline constexpr StepRule kStepRules[] = {
    {StepFault::kFreeListLen, "freeListLen is {0}; expected 0 <= freeListLen <= {F}"},
    {StepFault::kStepLens, "stepLens is {0}; expected 0 <= stepLens <= {B}"},
    {StepFault::kNeedBlockLen, "needBlockLen is {0}; expected 0 on entry"},
    {StepFault::kRecoverLens, "recoverLens is {0}; expected 0 on entry"},
    {StepFault::kStackEntryRange, "stepBlockList[{row}] is slot {0}; expected 0 <= slot < {B}"},
    {StepFault::kStackEntryTwice,
     "stepBlockList[{row}] is slot {0}, which stands there before; expected every slot once"},
    {StepFault::kStackEntryFlag,
     "stepBlockList[{row}] is slot {0}, whose isBlockStep is false; expected a preempted slot"},
    {StepFault::kNegativeUsed, "slot {row}: usedListLen is {0}; expected at least 0"},
    {StepFault::kDynamicColumns,
     "slot {row}: dynamic columns begin at encoderBlockLens {0} and are usedListLen {1}; expected "
     "them inside the {columns} columns of blockTables"},
    {StepFault::kNegativeDecoder, "slot {row}: seqLensDecoder is {0}; expected at least 0"},
    {StepFault::kNeededColumn,
     "slot {row}: seqLensDecoder {0} with blockSize {blockSize} needs column {1} of blockTables; "
     "expected column < {W}"},
    {StepFault::kFreeListOverflow,
     "freeListLen is {0} with {1} dynamic blocks in use; expected no more than {F} together"},
    {StepFault::kNoProgress,
     "no progress: {0} blocks are needed, {1} are free of a pool of {2}, and no slot is left to "
     "preempt; expected less load"},
    {StepFault::kGrantOutside,
     "slot {row}: recovery grants {1} blocks from column encoderBlockLens {0}; expected them "
     "inside "
     "the {columns} columns of blockTables"},
    {StepFault::kRecoveredPrompt, "slot {row}: oriSeqLensEncoder is {0}; expected at least 0"},
    {StepFault::kRecoveredStep, "slot {row}: stepIdx is {0}; expected 0 <= stepIdx <= {P}"},
    {StepFault::kRecoveredTotal,
     "slot {row}: oriSeqLensEncoder {0} and stepIdx {1} are to be replayed; expected 1 <= their "
     "sum "
     "<= {L}"},
    {StepFault::kFreeBlockUsed,
     "free_block_used: block {0} is in column {1} of slot {row} and on the free list, as "
     "freeList[{2}]; expected every block once"},
    {StepFault::kSharedBlock,
     "shared_block: block {0} is in column {1} of slot {row} and in a dynamic column of slot {2}; "
     "expected every block once"},
};

/// Returns the words of a rule, or null for a number that is no rule.
constexpr const char* StepRuleWords(int32_t fault) {
    for (const StepRule& rule : kStepRules) {
        if (static_cast<int32_t>(rule.fault) == fault) {
            return rule.words;
        }
    }
    return nullptr;
}

// Conditions that the kernel and the checker share.

constexpr bool IsCount(int64_t count, int64_t most) { return count >= 0 && count <= most; }

constexpr bool IsSlot(int64_t slot, int64_t batch) { return slot >= 0 && slot < batch; }

/// Returns whether `used` columns from `first` on lie in a row of `width` columns.
constexpr bool LieInRow(int64_t first, int64_t used, int64_t width) {
    return first >= 0 && first + used <= width;
}

}  // namespace advstep
