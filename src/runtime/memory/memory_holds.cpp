// SPDX-License-Identifier: Apache-2.0
// Keeps the list of held ranges.

#include "src/runtime/memory/memory_holds.h"

#include "src/base/no_cancellation.h"

namespace advstep {

void MemoryHolds::Enter(MemoryHold* hold) {
    const std::lock_guard<std::mutex> lock(mutex_);
    hold->next_ = newest_;
    if (newest_ != nullptr) {
        newest_->before_ = hold;
    }
    newest_ = hold;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void MemoryHolds::Leave(MemoryHold* hold) {
    const std::lock_guard<std::mutex> lock(mutex_);
    (hold->before_ == nullptr ? newest_ : hold->before_->next_) = hold->next_;
    if (hold->next_ != nullptr) {
        hold->next_->before_ = hold->before_;
    }
    // A thread that sees 0 gives back memory, so it has to see what was written there.
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    if (waiters_ > 0) {
        ended_.notify_all();
    }
}

bool MemoryHolds::MeetsSlowly(const HeldRange& range) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return MeetsLocked(range);
}

bool MemoryHolds::MeetsLocked(const HeldRange& range) const {
    const auto meets = [&](const HeldRange& held) {
        return held.begin != held.end && held.Meets(range);  // an empty one holds nothing
    };
    for (const MemoryHold* hold = newest_; hold != nullptr; hold = hold->next_) {
        if (meets(hold->first_) || meets(hold->second_)) {
            return true;
        }
    }
    return false;
}

void MemoryHolds::WaitFor(const HeldRange& range) const {
    std::unique_lock<std::mutex> lock(mutex_);
    const NoCancellation noCancellation;
    ++waiters_;
    ended_.wait(lock, [&] { return !MeetsLocked(range); });
    --waiters_;
}

}  // namespace advstep
