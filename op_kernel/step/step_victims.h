// SPDX-License-Identifier: Apache-2.0
// Finds the slots to preempt without a search for each.

#pragma once

#include <algorithm>

#include "op_kernel/step/step_view.h"

namespace advstep {

/// The slots that can be preempted, in their order. The slot with the most blocks comes first, and
/// the lowest of those with the same number. The slots of the longest length come after all others.
/// Slots with the same number of blocks form an ascending list, so the cost is one pass over the
/// slots however many are taken.
class VictimQueue {
 public:
    VictimQueue(const StepView& view, int64_t longest)
        : next_(view.nextCandidate()), lists_(view.firstCandidate()) {
        const int64_t batch = view.t.batch;
        const uint8_t* const stopped = view.a.stopFlags;
        const uint8_t* const preempted = view.a.isBlockStep;
        const int32_t* const used = view.a.usedListLen;
        int32_t most = 0;
        // A stopped slot has given its blocks back; a preempted one has none.
        for (int64_t slot = 0; slot < batch; ++slot) {
            const int32_t in = (stopped[slot] | preempted[slot]) == 0 ? ~0 : 0;
            most = std::max(most, used[slot] & in);
        }
        level_ = most;
        const int32_t others = most + 1;  // the list of slots that are not candidates
        std::fill_n(lists_, others + 1, kNobody);
        for (auto slot = static_cast<int32_t>(batch - 1); slot >= 0; --slot) {
            const bool out = (stopped[slot] | preempted[slot]) != 0 || used[slot] == 0;
            const int32_t level = used[slot] == longest ? kExempt : used[slot];
            int32_t& list = lists_[out ? others : level];
            next_[slot] = list;
            list = slot;
        }
    }

    /// Returns the next slot, or kNobody if none is left.
    int32_t Take() {
        for (; level_ >= kExempt; --level_) {
            const int32_t slot = lists_[level_];
            if (slot != kNobody) {
                lists_[level_] = next_[slot];
                return slot;
            }
        }
        return kNobody;
    }

    static constexpr int32_t kNobody = -1;

 private:
    static constexpr int32_t kExempt = 0;  // level of the slots that come last

    int32_t* next_;      // by slot
    int32_t* lists_;     // by level: the first slot
    int32_t level_ = 0;  // no slot above this one is left
};

}  // namespace advstep
