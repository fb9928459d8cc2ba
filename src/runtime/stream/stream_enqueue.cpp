// SPDX-License-Identifier: Apache-2.0
// The parts of an enqueue beside queueing: the limit of the queue, waking a worker, the busy set.
#include <algorithm>

#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

Status Stream::LookForRoom(uint64_t sequence) {
    const uint64_t completed = completed_.load(std::memory_order_relaxed);
    roomUpTo_ =
        queueLimit_ == 0 || queueLimit_ > kNever - completed ? kNever : completed + queueLimit_;
    return sequence <= roomUpTo_
               ? Status()
               : Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                       "stream {} holds {} tasks, and ADVANCE_STEP_QUEUE allows {}; expected a "
                       "synchronisation before, or a greater limit",
                       ToPointer(identity_.handle), sequence - 1 - completed, queueLimit_);
}

bool Stream::NeedsWaking(bool heavy) const {
    using Watch = WorkerControl::Watch;
    // A worker that rests is not woken for light work, because waking it costs an enqueuer more
    // than the rest costs the work.
    return workers_->watch() >= (heavy                     ? Watch::kResting
                                 : unwaited_.NobodyWaits() ? Watch::kNapping
                                                           : Watch::kAsleep);
}

bool Stream::ReachedOrTellWorkers(uint64_t sequence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Reached(sequence)) {
        return true;
    }
    tellWorkersAt_ = std::min(tellWorkersAt_, sequence);
    return false;
}

bool Stream::QueuedForWaiters() {
    const uint64_t issued = issued_.load(std::memory_order_relaxed);
    const bool queued = issuedBefore_.load(std::memory_order_relaxed) != issued;
    issuedBefore_.store(issued, std::memory_order_relaxed);
    completedBefore_.store(completed_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return queued && !unwaited_.NobodyWaits();
}

bool Stream::WaitersRunIt() const {
    constexpr uint64_t kSome = 8;
    return !unwaited_.NobodyWaits() && completed_.load(std::memory_order_relaxed) >
                                           completedBefore_.load(std::memory_order_relaxed) + kSome;
}

void Stream::LeaveBusySetIfIdle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    LeaveBusySetIfIdleLocked();
}

void Stream::LeaveBusySetIfIdleLocked() {
    const bool idle = queue_.Empty() && (failures_.empty() || identity_.handle == 0);
    if (idle && inBusySet_ && busySet_ != nullptr) {
        inBusySet_ = false;
        busySet_->Remove(tableIndex);
    }
}

}  // namespace advstep
