// SPDX-License-Identifier: Apache-2.0
// The reasons for which requests wait for their admission, and how long.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace serve {

/// A sum over many requests: what a million wait for a year is beyond 64 bits.
__extension__ using WideTicks = __int128;

enum class WaitReason : size_t {
    kIteration,     // they came while an iteration ran
    kSlots,         // as many sequences as there are slots
    kBudget,        // the iteration has no room for the first one's prompt
    kPromptBlocks,  // too few blocks for the first one's prompt
    kGrowthBlocks,  // a sequence is preempted, for too few blocks to grow into
    kShed,          // they ran, and were shed: what they ran in vain
    kCount
};

inline constexpr std::array<const char*, static_cast<size_t>(WaitReason::kCount)> kWaitReasonNames =
    {"iteration", "slots", "budget", "prompt_blocks", "growth_blocks", "shed"};

/// Ticks, summed up over requests. First come, first served: what holds the first one up holds up
/// all that wait. Of requests that have been admitted, all together are the time from arrival to
/// admission.
class WaitTimes {
 public:
    void Add(WaitReason reason, WideTicks ticks) { ticks_[static_cast<size_t>(reason)] += ticks; }
    void Add(const WaitTimes& other) {
        for (size_t i = 0; i < ticks_.size(); ++i) {
            ticks_[i] += other.ticks_[i];
        }
    }
    /// By kWaitReasonNames.
    const std::array<WideTicks, kWaitReasonNames.size()>& Ticks() const { return ticks_; }

 private:
    std::array<WideTicks, kWaitReasonNames.size()> ticks_{};
};

}  // namespace serve
